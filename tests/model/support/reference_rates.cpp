#include "model/support/reference_rates.hpp"

#include <algorithm>
#include <limits>

namespace airlock::reference {

using namespace std::chrono_literals;

namespace {

using Algorithm = Rate::Algorithm;

// The first moment from `now` on at which `holds`, which stays true once it is; as a distance from now.
template <typename Predicate>
Duration first_after(Duration now, Predicate holds) {
  if (holds(now)) return 0us;
  std::int64_t no = 0;
  std::int64_t yes = 1;
  while (!holds(now + Duration(yes))) {
    no = yes;
    yes *= 2;
  }
  while (yes - no > 1) {
    const std::int64_t middle = no + (yes - no) / 2;
    (holds(now + Duration(middle)) ? yes : no) = middle;
  }
  return Duration(yes);
}

Wide now_in_parts(const Tier& tier, Duration now) { return Wide{now.count()} * tier.rate.count; }

// How far the arrival time is ahead of now, in us / count.
Wide ahead(const Tier& tier, Duration now) {
  return std::max<Wide>(tier.arrival - now_in_parts(tier, now), 0);
}

// What counts against a sliding window: hits times the microseconds of them that lie inside it.
Wide weighted_hits(const Tier& tier, Duration now) {
  const std::int64_t period = tier.rate.period.count();
  const std::int64_t number = now.count() / period;
  const std::int64_t overlap = period - now.count() % period;
  if (number == tier.window) return Wide{tier.hits} * period + Wide{tier.hits_before} * overlap;
  if (number == tier.window + 1) return Wide{tier.hits} * overlap;
  return 0;
}

bool is_open(const Tier& tier, Duration now) {
  return tier.start > 0us && now < tier.start + tier.rate.period;
}

std::uint64_t hits_in_fixed_window(const Tier& tier, Duration now) {
  return is_open(tier, now) ? tier.hits : 0;
}

}  // namespace

std::uint32_t burst_of(const Rate& rate) { return rate.burst != 0 ? rate.burst : rate.count; }

Tier unused(const Rate& rate) { return {.rate = rate, .window = -10}; }

Tier seen_with(const Tier& tier, const Rate& rate) {
  Tier seen = tier;
  seen.rate = rate;
  if (rate.algorithm == Algorithm::gcra) {
    const Wide whole = (tier.arrival + tier.rate.count - 1) / tier.rate.count;
    if (rate.count != tier.rate.count) seen.arrival = whole * rate.count;
  }
  return seen;
}

bool passes(const Tier& tier, std::uint64_t cost, Duration now) {
  const Wide period = tier.rate.period.count();
  switch (tier.rate.algorithm) {
    case Algorithm::gcra:
      return ahead(tier, now) + Wide{cost} * period <= burst_of(tier.rate) * period;
    case Algorithm::sliding_window:
      return weighted_hits(tier, now) + Wide{cost} * period <= tier.rate.count * period;
    case Algorithm::fixed_window:
      return hits_in_fixed_window(tier, now) + cost <= tier.rate.count;
    case Algorithm::no_limit:
      return true;
  }
  return false;
}

bool is_unused(const Tier& tier, Duration now) {
  switch (tier.rate.algorithm) {
    case Algorithm::gcra:
      return ahead(tier, now) == 0;
    case Algorithm::sliding_window:
      return weighted_hits(tier, now) == 0;
    case Algorithm::fixed_window:
      return !is_open(tier, now);
    case Algorithm::no_limit:
      return true;
  }
  return true;
}

std::uint32_t remaining(const Tier& tier, Duration now) {
  std::uint64_t no = std::uint64_t{burst_of(tier.rate)} + 1;
  std::uint64_t yes = 0;
  while (no - yes > 1) {
    const std::uint64_t middle = yes + (no - yes) / 2;
    (passes(tier, middle, now) ? yes : no) = middle;
  }
  return static_cast<std::uint32_t>(yes);
}

Duration passes_after(const Tier& tier, std::uint64_t cost, Duration now) {
  if (tier.rate.algorithm == Algorithm::no_limit) return 0us;
  if (cost > burst_of(tier.rate)) return kForever;
  return first_after(now, [&](Duration then) { return passes(tier, cost, then); });
}

Duration unused_after(const Tier& tier, Duration now) {
  return first_after(now, [&](Duration then) { return is_unused(tier, then); });
}

RateInfo info_of(const Tier& tier, std::uint64_t cost, Duration now) {
  constexpr auto kUnlimited = std::numeric_limits<std::uint32_t>::max();
  if (tier.rate.algorithm == Algorithm::no_limit) return {kUnlimited, kUnlimited, 0us, 0us};
  return {burst_of(tier.rate), remaining(tier, now), passes_after(tier, cost, now),
          unused_after(tier, now)};
}

void charge(Tier& tier, std::uint64_t cost, Duration now) {
  const std::int64_t period = tier.rate.period.count();
  switch (tier.rate.algorithm) {
    case Algorithm::gcra:
      tier.arrival = std::max(tier.arrival, now_in_parts(tier, now)) + Wide{cost} * period;
      return;
    case Algorithm::sliding_window: {
      const std::int64_t number = now.count() / period;
      if (number != tier.window) {
        tier.hits_before = number == tier.window + 1 ? tier.hits : 0;
        tier.hits = 0;
        tier.window = number;
      }
      tier.hits += cost;
      return;
    }
    case Algorithm::fixed_window:
      if (!is_open(tier, now)) {
        tier.start = now;
        tier.hits = 0;
      }
      tier.hits += cost;
      return;
    case Algorithm::no_limit:
      return;
  }
}

void refund(Tier& tier, std::uint64_t cost, Duration now) {
  const std::int64_t period = tier.rate.period.count();
  switch (tier.rate.algorithm) {
    case Algorithm::gcra:
      tier.arrival -= Wide{cost} * period;
      return;
    case Algorithm::sliding_window: {
      const std::int64_t age = now.count() / period - tier.window;
      if (age > 1) return;
      const std::uint64_t taken = std::min(tier.hits, cost);
      tier.hits -= taken;
      if (age == 0) tier.hits_before -= std::min(tier.hits_before, cost - taken);
      return;
    }
    case Algorithm::fixed_window:
      if (is_open(tier, now)) tier.hits -= std::min(tier.hits, cost);
      return;
    case Algorithm::no_limit:
      return;
  }
}

}  // namespace airlock::reference
