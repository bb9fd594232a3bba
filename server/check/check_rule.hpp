#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "airlock/duration.hpp"
#include "check/networks.hpp"
#include "config/table_reader.hpp"

namespace airlock::server {

// [gate.check]: what GET /check needs to know of a gate besides its limit and rates.
struct CheckRule {
  // Where a proxy says which visitor it asks for.
  enum class Source : std::uint8_t { none, header, cookie, address };

  Source source = Source::none;
  std::string name = {};  // Of the header or the cookie.
  Networks trusted = {};  // Who may send the header of an address.
  Duration patience{0};   // A place in the line is kept for this after each check. 0: no line.
  bool admits_on_outage = false;

  void read(TableReader& table);
};

}  // namespace airlock::server
