#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/table_reader.hpp"

namespace airlock::server {

// The names under which browsers may ask. Without a list a page of another site, whose name was made to lead here, could.
// This machine's own names always count.
class BrowserHosts {
 public:
  void read(TableReader& server);  // The key `hosts` of [server].

  // `authority` is that of a Host field or of an Origin: a name, with or without a port.
  [[nodiscard]] bool allow(std::string_view authority) const;

 private:
  std::vector<std::string> names_;  // In lower case.
};

}  // namespace airlock::server
