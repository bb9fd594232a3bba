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

// whole + part / of microseconds, part < of.
struct Mixed {
  Micros whole;
  std::int64_t part;

  friend auto operator<=>(const Mixed&, const Mixed&) = default;
};

// What a tier says to `cost`; nothing is written. `info` is as it would be after taking it, or as
// it is if refused.
struct Tally {
  bool allowed = true;
  Duration delay{0};  // GCRA: how much too early it is. A reservation may accept that.
  RateInfo info;
  Mixed after{};  // GCRA: how far ahead its time is once the cost is taken.
};
[[nodiscard]] Tally weigh(const Rate& rate, const Tier* tier, std::uint32_t cost,
                          Micros now) noexcept;

// How a GCRA tier stands once `cost` is taken although it is too early for it.
[[nodiscard]] RateInfo after_reserving(const Rate& rate, const Tier* tier, std::uint32_t cost,
                                       Micros now) noexcept;

// How much would be allowed now.
[[nodiscard]] std::uint32_t available(const Rate& rate, const Tier* tier, Micros now) noexcept;

// Takes the `cost` that was weighed to `after`. Death between its stores may take a little more,
// never less.
void charge(const Rate& rate, Tier& tier, std::uint32_t cost, const Mixed& after, Micros now);

// Gives `cost` back, as far as the tier remembers it.
void give_back(Tier& tier, std::uint32_t cost, Micros now);

// When the tier is as if never used; 0 if it is.
[[nodiscard]] Micros reset_after(const Tier& tier, Micros now) noexcept;

// The rest is GCRA, which every decision with a rate runs, inline.

[[nodiscard]] Tally weigh_other(const Rate& rate, const Tier* tier, std::uint32_t cost,
                                Micros now) noexcept;
void charge_other(const Rate& rate, Tier& tier, std::uint32_t cost, Micros now);

namespace gcra {

inline Mixed divide(std::int64_t units, std::int64_t of) noexcept {
  return {units / of, units % of};
}

inline Micros round_up(const Mixed& mixed) noexcept {
  return mixed.whole + (mixed.part > 0 ? 1 : 0);
}

// Wide, because a reservation may be a year ahead.
inline __int128_t units(const Mixed& mixed, std::int64_t of) noexcept {
  return static_cast<__int128_t>(mixed.whole) * of + mixed.part;
}

inline Mixed add(const Mixed& a, const Mixed& b, std::int64_t of) noexcept {
  const std::int64_t part = a.part + b.part;
  return {a.whole + b.whole + (part >= of ? 1 : 0), part >= of ? part - of : part};
}

// a - b for a >= b.
inline Micros round_up_difference(const Mixed& a, const Mixed& b) noexcept {
  return a.whole - b.whole + (a.part > b.part ? 1 : 0);
}

// How far the theoretical arrival time is ahead, in parts of `count`. A fraction kept for another
// count rounds up.
inline Mixed lateness(const Tier* tier, std::uint32_t count, Micros now) noexcept {
  if (tier == nullptr || tier->time[0].get() < now) return {};
  const Micros whole = tier->time[0].get() - now;
  const std::uint32_t part = tier->part.get();
  if (part == 0 || tier->part_of.get() == count) return {whole, part};
  return {whole + 1, 0};
}

inline Tally weigh(const Rate& rate, const Tier* tier, std::uint32_t cost, Micros now) noexcept {
  const std::int64_t period = rate.period.count();
  const std::int64_t count = rate.count;
  const std::int64_t full = burst_of(rate) * period;
  const std::int64_t price = cost * period;
  const Mixed late = lateness(tier, rate.count, now);
  const __int128_t room = full - price - units(late, count);

  Tally tally{room >= 0, Duration(0), {.limit = burst_of(rate)}, {}};
  tally.after = add(late, divide(price, count), count);
  if (tally.allowed) [[likely]] {
    tally.info.remaining = static_cast<std::uint32_t>(static_cast<std::int64_t>(room) / period);
    tally.info.reset_after = Duration(round_up(tally.after));
    if (room < price) {
      const Mixed slack = divide(full - price, count);
      tally.info.retry_after = Duration(round_up_difference(tally.after, slack));
    }
    return tally;
  }
  tally.delay = Duration(round_up_difference(late, divide(full - price, count)));
  tally.info.retry_after = tally.delay;
  tally.info.remaining = available(rate, tier, now);
  tally.info.reset_after = Duration(round_up(late));
  return tally;
}

inline void charge(const Rate& rate, Tier& tier, const Mixed& after, Micros now) {
  tier.time[0].publish(now + after.whole + 1);  // Too late until the fraction is right.
  tier.part.publish(static_cast<std::uint32_t>(after.part));
  tier.part_of.publish(rate.count);
  tier.time[0].publish(now + after.whole);
}

}  // namespace gcra

inline Tally weigh(const Rate& rate, const Tier* tier, std::uint32_t cost, Micros now) noexcept {
  if (rate.algorithm == Rate::Algorithm::gcra && cost <= burst_of(rate)) [[likely]] {
    return gcra::weigh(rate, tier, cost, now);
  }
  return weigh_other(rate, tier, cost, now);
}

inline void charge(const Rate& rate, Tier& tier, std::uint32_t cost, const Mixed& after,
                   Micros now) {
  tier.count.set(rate.count);
  tier.burst.set(rate.burst);
  if (rate.algorithm == Rate::Algorithm::gcra) [[likely]] {
    return gcra::charge(rate, tier, after, now);
  }
  charge_other(rate, tier, cost, now);
}

}  // namespace airlock::model
