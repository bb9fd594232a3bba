#pragma once

#include <cstdint>

namespace airlock {

// What to do when the store cannot answer. After a failure calls are decided at once; one caller
// tries the store again after 50 ms, then less and less often, at least every second.
enum class Outage : std::uint8_t {
  closed,  // Nobody gets in: SealAcquiringError.
  open,    // Everybody gets in, unguarded: fence 0, Lease::guarded() is false.
  local,   // As many as `local_limit` of this process get in, unguarded; others are refused.
};

}  // namespace airlock
