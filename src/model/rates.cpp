#include "model/rates.hpp"

#include <algorithm>
#include <limits>

namespace airlock::model {
namespace {

using Algorithm = Rate::Algorithm;
using gcra::add;
using gcra::divide;
using gcra::lateness;
using gcra::round_up;
using gcra::round_up_difference;
using gcra::units;

// The hits of window number `window`.
std::int64_t hits_of(const Tier* tier, Micros window) noexcept {
  if (tier == nullptr) return 0;
  const auto which = static_cast<std::size_t>(window & 1);
  return tier->time[which].get() == window ? tier->hits[which].get() : 0;
}

// When `hits` in the previous window and none in this leave room for `free` more, counted from the
// window's start.
Micros room_after(std::int64_t hits, std::int64_t free, Micros period) noexcept {
  return hits == 0 ? 0 : std::max<Micros>(0, period - free * period / hits);
}

Tally weigh_sliding(const Rate& rate, const Tier* tier, std::uint32_t cost, Micros now) noexcept {
  const Micros period = rate.period.count();
  const std::int64_t limit = rate.count;
  const Micros window = now / period;
  const Micros elapsed = now % period;
  const std::int64_t before = hits_of(tier, window - 1);
  const std::int64_t current = hits_of(tier, window);
  const std::int64_t room = (limit - current) * period - before * (period - elapsed);

  Tally tally{cost * period <= room, Duration(0), {.limit = rate.count}, {}};
  const std::int64_t after = tally.allowed ? room - cost * period : room;
  tally.info.remaining = static_cast<std::uint32_t>(std::max<std::int64_t>(0, after / period));
  const std::int64_t hits = current + (tally.allowed ? cost : 0);
  if (hits > 0) {
    tally.info.reset_after = Duration(2 * period - elapsed);
  } else if (before > 0) {
    tally.info.reset_after = Duration(period - elapsed);
  }
  // For the same cost, from where it is then.
  const std::int64_t free = limit - static_cast<std::int64_t>(cost);
  if (cost * period > after) {
    tally.info.retry_after =
        Duration(hits <= free ? room_after(before, free - hits, period) - elapsed
                              : period - elapsed + room_after(hits, free, period));
  }
  return tally;
}

// Opens a window: invalid until its hits are right.
void open_window(Tier& tier, std::size_t which, Micros window, std::uint32_t hits) {
  tier.time[which].publish(-1);
  tier.hits[which].publish(hits);
  tier.time[which].publish(window);
}

void charge_sliding(const Rate& rate, Tier& tier, std::uint32_t cost, Micros now) {
  const Micros window = now / rate.period.count();
  const auto which = static_cast<std::size_t>(window & 1);
  if (tier.time[which].get() == window) {
    tier.hits[which].publish(tier.hits[which].get() + cost);
  } else {
    open_window(tier, which, window, cost);
  }
}

bool fixed_open(const Tier* tier, Micros period, Micros now) noexcept {
  return tier != nullptr && tier->time[0].get() >= 0 && now < tier->time[0].get() + period;
}

Tally weigh_fixed(const Rate& rate, const Tier* tier, std::uint32_t cost, Micros now) noexcept {
  const Micros period = rate.period.count();
  const bool open = fixed_open(tier, period, now);
  const std::int64_t used = open ? tier->hits[0].get() : 0;
  const std::int64_t room = std::max<std::int64_t>(0, rate.count - used);
  const Duration rest(open ? tier->time[0].get() + period - now : 0);

  Tally tally{cost <= room, Duration(0), {.limit = rate.count}, {}};
  tally.info.remaining = static_cast<std::uint32_t>(tally.allowed ? room - cost : room);
  tally.info.reset_after =
      open ? rest : (tally.allowed && cost > 0 ? Duration(rate.period) : Duration(0));
  if (cost > tally.info.remaining) tally.info.retry_after = open ? rest : Duration(rate.period);
  return tally;
}

void charge_fixed(const Rate& rate, Tier& tier, std::uint32_t cost, Micros now) {
  if (fixed_open(&tier, rate.period.count(), now)) {
    tier.hits[0].publish(tier.hits[0].get() + cost);
  } else {
    open_window(tier, 0, now, cost);
  }
}

void subtract_hits(Tier& tier, std::size_t which, std::uint32_t cost) {
  tier.hits[which].publish(tier.hits[which].get() - std::min(cost, tier.hits[which].get()));
}

}  // namespace

Tally weigh_other(const Rate& rate, const Tier* tier, std::uint32_t cost, Micros now) noexcept {
  constexpr auto kUnlimited = std::numeric_limits<std::uint32_t>::max();
  if (rate.algorithm == Algorithm::no_limit) {
    return {true, Duration(0), {.limit = kUnlimited, .remaining = kUnlimited}, {}};
  }
  if (cost > burst_of(rate)) {
    return {false,
            kForever,
            {.limit = burst_of(rate),
             .remaining = available(rate, tier, now),
             .retry_after = kForever,
             .reset_after = Duration(tier != nullptr ? reset_after(*tier, now) : 0)},
            {}};
  }
  if (rate.algorithm == Algorithm::sliding_window) return weigh_sliding(rate, tier, cost, now);
  return weigh_fixed(rate, tier, cost, now);
}

RateInfo after_reserving(const Rate& rate, const Tier* tier, std::uint32_t cost,
                         Micros now) noexcept {
  const std::int64_t period = rate.period.count();
  const std::int64_t count = rate.count;
  const Mixed slack = divide((std::int64_t{burst_of(rate)} - cost) * period, count);
  const Mixed after = add(lateness(tier, rate.count, now), divide(cost * period, count), count);
  return {.limit = burst_of(rate),
          .remaining = 0,
          .retry_after = Duration(round_up_difference(after, slack)),
          .reset_after = Duration(round_up(after))};
}

std::uint32_t available(const Rate& rate, const Tier* tier, Micros now) noexcept {
  if (rate.algorithm == Algorithm::no_limit) return std::numeric_limits<std::uint32_t>::max();
  if (rate.algorithm != Algorithm::gcra) return weigh(rate, tier, 0, now).info.remaining;
  const std::int64_t full = burst_of(rate) * rate.period.count();
  const Mixed late = lateness(tier, rate.count, now);
  const __int128_t room = full - units(late, rate.count);
  return room < 0
             ? 0
             : static_cast<std::uint32_t>(static_cast<std::int64_t>(room) / rate.period.count());
}

void charge_other(const Rate& rate, Tier& tier, std::uint32_t cost, Micros now) {
  if (rate.algorithm == Algorithm::sliding_window) return charge_sliding(rate, tier, cost, now);
  if (rate.algorithm == Algorithm::fixed_window) charge_fixed(rate, tier, cost, now);
}

std::optional<RateInfo> take_other(const Rate& rate, Tier& tier, std::uint32_t cost, Micros now) {
  const Tally tally = weigh(rate, &tier, cost, now);
  if (!tally.allowed) return std::nullopt;
  charge(rate, tier, cost, tally.after, now);
  return tally.info;
}

void give_back(Tier& tier, std::uint32_t cost, Micros now) {
  const Rate rate = tier.rate();
  if (rate.algorithm == Algorithm::sliding_window) {
    // Of what this window has first: in whatever order costs come back, as much is left.
    const Micros window = now / rate.period.count();
    for (const Micros from : {window, window - 1}) {
      const auto hits = static_cast<std::uint32_t>(hits_of(&tier, from));
      if (hits > 0) subtract_hits(tier, static_cast<std::size_t>(from & 1), cost);
      cost -= std::min(cost, hits);
    }
  } else if (rate.algorithm == Algorithm::fixed_window) {
    if (fixed_open(&tier, rate.period.count(), now)) subtract_hits(tier, 0, cost);
  } else if (rate.algorithm == Algorithm::gcra) {
    const Mixed late = lateness(&tier, rate.count, now);
    const Mixed price = divide(cost * rate.period.count(), rate.count);
    Mixed left{late.whole - price.whole, late.part - price.part};
    if (left.part < 0) left = {left.whole - 1, left.part + rate.count};
    if (left.whole < 0) left = {};
    tier.part.publish(static_cast<std::uint32_t>(left.part));
    tier.part_of.publish(rate.count);
    tier.time[0].publish(now + left.whole);
  }
}

Micros reset_after(const Tier& tier, Micros now) noexcept {
  switch (tier.algorithm) {
    case Algorithm::gcra:
      return round_up(lateness(&tier, tier.part_of.get(), now));
    case Algorithm::sliding_window: {
      const Micros period = tier.rate().period.count();
      const Micros window = now / period;
      if (hits_of(&tier, window) > 0) return 2 * period - now % period;
      return hits_of(&tier, window - 1) > 0 ? period - now % period : 0;
    }
    case Algorithm::fixed_window:
      return fixed_open(&tier, tier.period, now) ? tier.time[0].get() + tier.period - now : 0;
    case Algorithm::no_limit:
      return 0;
  }
  return 0;
}

}  // namespace airlock::model
