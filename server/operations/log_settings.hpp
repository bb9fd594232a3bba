#pragma once

#include <cstdint>
#include <string>

#include "config/table_reader.hpp"

namespace airlock::server {

// [log]
struct LogSettings {
  enum class Access : std::uint8_t { off, text, json };

  Access access = Access::off;
  std::string file = {};  // Empty: standard output.

  void read(TableReader& table);
};

}  // namespace airlock::server
