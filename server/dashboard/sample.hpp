#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "airlock/look.hpp"

namespace airlock::server {

// What is remembered of a gate at one moment. Counts of events only grow, as those of the gate do: what happened between two
// samples is their difference. The gate was forgotten meanwhile where one is smaller than before.
struct Sample {
  static constexpr std::size_t kInUse = 0;
  static constexpr std::size_t kLimit = 1;  // One more than the limit; 0: it has none.
  static constexpr std::size_t kWaiting = 2;
  static constexpr std::size_t kGranted = 3;
  static constexpr std::size_t kRefused = 4;                  // By reason.
  static constexpr std::size_t kWaits = kRefused + kReasons;  // By bucket.
  static constexpr std::size_t kSize = kWaits + Counters::kWaitBuckets;

  std::array<std::uint64_t, kSize> values = {};

  static Sample of(const GateView& gate);

  friend bool operator==(const Sample&, const Sample&) = default;
};

}  // namespace airlock::server
