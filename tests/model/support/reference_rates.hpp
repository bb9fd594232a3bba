#pragma once

#include <cstdint>

#include "airlock/duration.hpp"
#include "airlock/rate.hpp"

// Rates as their definition reads: exact fractions, and every "when" found by trying. Slow.

namespace airlock::reference {

__extension__ using Wide = __int128;

// What a gate remembers of one (algorithm, period).
struct Tier {
  Rate rate;  // As last charged.

  // gcra: the theoretical arrival time, in us / rate.count.
  Wide arrival = 0;

  // sliding_window: hits in window number `window` and in the one before. fixed_window: hits since
  // `start`; the window stays open when they are refunded.
  std::int64_t window = 0;
  std::uint64_t hits = 0;
  std::uint64_t hits_before = 0;
  Duration start{0};
};

// How much may be taken at once.
[[nodiscard]] std::uint32_t burst_of(const Rate& rate);

// The same tier seen with another count or burst: the time is kept and rounded up.
[[nodiscard]] Tier seen_with(const Tier& tier, const Rate& rate);

// A tier that was never used.
[[nodiscard]] Tier unused(const Rate& rate);

[[nodiscard]] bool passes(const Tier& tier, std::uint64_t cost, Duration now);
[[nodiscard]] bool is_unused(const Tier& tier, Duration now);
[[nodiscard]] std::uint32_t remaining(const Tier& tier, Duration now);
[[nodiscard]] Duration passes_after(const Tier& tier, std::uint64_t cost, Duration now);
[[nodiscard]] Duration unused_after(const Tier& tier, Duration now);
[[nodiscard]] RateInfo info_of(const Tier& tier, std::uint64_t cost, Duration now);

// Takes, passing or not.
void charge(Tier& tier, std::uint64_t cost, Duration now);

// Gives back. A sliding window remembers hits of the previous window only while it has none of its own.
void refund(Tier& tier, std::uint64_t cost, Duration now);

}  // namespace airlock::reference
