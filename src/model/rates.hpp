#pragma once

#include <cstdint>
#include <optional>

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

// Narrow where that will do, which it mostly does: many processors take half the time or less.
inline Mixed divide(std::int64_t units, std::int64_t of) noexcept {
  const auto a = static_cast<std::uint32_t>(units);
  const auto b = static_cast<std::uint32_t>(of);
  if (a == units && b == of) [[likely]]
    return {a / b, a % b};
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

// What is known of a cost before the tier is.
struct Price {
  std::int64_t units;
  std::int64_t slack;  // In units: how late the tier may be for it.
  Mixed time;          // What it moves the tier's time by.
};

inline Price price_of(const Rate& rate, std::uint32_t cost) noexcept {
  const std::int64_t units = cost * rate.period.count();
  return {units, burst_of(rate) * rate.period.count() - units, divide(units, rate.count)};
}

// What decides. How the tier stands then takes a division more, which can wait.
struct Weight {
  __int128_t room;  // In units, once the price is paid; below 0: it cannot be.
  Mixed late;       // How far ahead its time is,
  Mixed after;      // and once the price is paid.
};

inline Weight weight(const Rate& rate, const Tier* tier, const Price& price, Micros now) noexcept {
  const std::int64_t count = rate.count;
  const Mixed late = lateness(tier, rate.count, now);
  return {.room = price.slack - units(late, count),
          .late = late,
          .after = add(late, price.time, count)};
}

// How the tier stands once it is paid. REQUIRES: room.
inline RateInfo info_after(const Rate& rate, const Price& price, const Weight& weight) noexcept {
  const std::int64_t period = rate.period.count();
  const auto room = static_cast<std::int64_t>(weight.room);
  RateInfo info{.limit = burst_of(rate),
                .remaining = static_cast<std::uint32_t>(room / period),
                .reset_after = Duration(round_up(weight.after))};
  if (room < price.units) {
    const Mixed slack = divide(price.slack, rate.count);
    info.retry_after = Duration(round_up_difference(weight.after, slack));
  }
  return info;
}

inline Tally weigh(const Rate& rate, const Tier* tier, std::uint32_t cost, Micros now) noexcept {
  const Price price = price_of(rate, cost);
  const Weight weight = gcra::weight(rate, tier, price, now);
  if (weight.room >= 0) [[likely]] {
    return {true, Duration(0), info_after(rate, price, weight), weight.after};
  }
  const Duration delay(round_up_difference(weight.late, divide(price.slack, rate.count)));
  return {false,
          delay,
          {.limit = burst_of(rate),
           .remaining = available(rate, tier, now),
           .retry_after = delay,
           .reset_after = Duration(round_up(weight.late))},
          weight.after};
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

// Takes the cost as another algorithm allows it, and says how the tier stands then.
[[nodiscard]] std::optional<RateInfo> take_other(const Rate& rate, Tier& tier, std::uint32_t cost,
                                                 Micros now);

// A cost that a tier is asked for, alone, and what it says to that. What needs no tier is computed
// before, and what can wait after it is taken, so that who has the lock only adds and compares.
class Payment {
 public:
  Payment(const Rate& rate, std::uint32_t cost) noexcept
      : rate_(rate),
        cost_(cost),
        is_gcra_(rate.algorithm == Rate::Algorithm::gcra),
        price_(is_gcra_ ? gcra::price_of(rate, cost) : gcra::Price{}) {}

  [[nodiscard]] const Rate& rate() const noexcept { return rate_; }

  // Takes the cost if the tier allows it.
  [[nodiscard]] bool take(Tier& tier, Micros now) {
    if (!is_gcra_) [[unlikely]] {
      const std::optional<RateInfo> info = take_other(rate_, tier, cost_, now);
      if (info) info_ = *info;
      return info.has_value();
    }
    weight_ = gcra::weight(rate_, &tier, price_, now);
    if (weight_.room < 0) return false;
    charge(rate_, tier, cost_, weight_.after, now);
    return true;
  }

  // How the tier stands since then.
  [[nodiscard]] RateInfo info() const noexcept {
    return is_gcra_ ? gcra::info_after(rate_, price_, weight_) : info_;
  }

 private:
  const Rate& rate_;
  const std::uint32_t cost_;
  const bool is_gcra_;
  const gcra::Price price_;
  gcra::Weight weight_{};
  RateInfo info_;  // Of the other algorithms.
};

}  // namespace airlock::model
