#pragma once

#include <cstdint>

#include "airlock/rate.hpp"
#include "model/records.hpp"

// The arithmetic of the rate algorithms. Integer microseconds; where a rate does not divide them,
// the rest is kept as a fraction of `count`, so that nothing rounds to zero or drifts. Null state:
// never used.

namespace airlock::model {

// How much may be taken at once.
[[nodiscard]] constexpr std::uint32_t burst_of(const Rate& rate) noexcept {
  return rate.algorithm == Rate::Algorithm::gcra && rate.burst != 0 ? rate.burst : rate.count;
}

// What a tier says to `cost`; nothing is written. `info` is as it would be after taking it, or as
// it is if refused.
struct Tally {
  bool allowed = true;
  Duration delay{0};  // GCRA: how much too early it is. A reservation may accept that.
  RateInfo info;
};
[[nodiscard]] Tally weigh(const Rate& rate, const Tier* tier, std::uint32_t cost,
                          Micros now) noexcept;

// How much would be allowed now.
[[nodiscard]] std::uint32_t available(const Rate& rate, const Tier* tier, Micros now) noexcept;

// Takes `cost`. Death between its stores may take a little more, never less.
void charge(const Rate& rate, Tier& tier, std::uint32_t cost, Micros now);

// Gives `cost` back, as far as the tier remembers it.
void give_back(Tier& tier, std::uint32_t cost, Micros now);

// When the tier is as if never used; 0 if it is.
[[nodiscard]] Micros reset_after(const Tier& tier, Micros now) noexcept;

}  // namespace airlock::model
