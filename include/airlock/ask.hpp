#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include "airlock/duration.hpp"

namespace airlock {

// How one caller wants in; everything has a default.
//
//   erp.try_call({.max_wait = request.time_left(), .stop = stop}, work);
struct Ask {
  std::optional<Duration> max_wait = {};  // Instead of the object's own. 0: one attempt; not below.
  std::stop_token stop = {};              // Leaves the line when it fires. Two: either.hpp.
  std::uint16_t priority = 0;             // Order::priority only.
  std::uint32_t weight = 1;
  std::uint32_t cost = 1;       // What the rates are charged.
  std::string_view label = {};  // What operators see. Empty: `host:pid comm`.
};

}  // namespace airlock
