#include <algorithm>

#include "model/visits.hpp"

namespace airlock::model {

Tier* Shard::find_tier(const Gate& gate, const Rate& rate) const noexcept {
  for (Ref ref = gate.tiers; ref != kNone; ref = tiers_[ref].next) {
    Tier& tier = tiers_[ref];
    if (tier.algorithm == rate.algorithm && tier.period == rate.period.count()) return &tier;
  }
  return nullptr;
}

// What a tier says to the cost in the mode of the ask.
Tally Shard::weigh_one(const Rate& rate, const Tier* tier, const RateAsk& ask, std::uint32_t cost,
                       Micros now) {
  Tally tally = weigh(rate, tier, cost, now);
  if (ask.mode == RateMode::peek && tally.allowed) tally.info = weigh(rate, tier, 0, now).info;
  if (ask.mode == RateMode::reserve && tally.delay <= std::min(ask.max_delay, kMaxTtl)) {
    tally.allowed = true;
    tally.info.retry_after = Duration(0);
  }
  return tally;
}

// Weighs every tier and speaks for the tightest: of those that refuse, the one that takes longest;
// else the one with the least left.
Shard::RateVerdict Shard::weigh_all(const Gate& gate, const RateAsk& ask, Micros now) const {
  RateVerdict verdict;
  verdict.taken = ask.cost;
  if (ask.mode == RateMode::at_most) {
    for (const Rate& rate : ask.rates) {
      verdict.taken = std::min(verdict.taken, available(rate, find_tier(gate, rate), now));
    }
  }
  const std::uint32_t cost = std::max(verdict.taken, 1U);
  const auto tighter = [&](const Tally& tally) {
    if (tally.allowed != verdict.allowed) return !tally.allowed;
    return tally.allowed ? tally.info.remaining < verdict.info.remaining
                         : tally.info.retry_after > verdict.info.retry_after;
  };
  for (const Rate& rate : ask.rates) {
    const Tally tally = weigh_one(rate, find_tier(gate, rate), ask, cost, now);
    if (&rate == ask.rates.data() || tighter(tally)) verdict.info = tally.info;
    verdict.allowed = verdict.allowed && tally.allowed;
    verdict.never = verdict.never || tally.delay == kForever;
    verdict.delay = std::max(verdict.delay, tally.delay);
  }
  if (!verdict.allowed || ask.mode == RateMode::peek) verdict.taken = 0;
  return verdict;
}

// How the tiers stand to a cost that is not taken.
RateInfo Shard::standing(const Gate& gate, std::span<const Rate> rates, std::uint32_t cost,
                         Micros now) const {
  if (rates.empty()) return {};
  return weigh_all(gate, {rates, RateMode::peek, cost, {}}, now).info;
}

// REQUIRES: room for as many tiers.
void Shard::charge_all(At<Gate> gate, std::span<const Rate> rates, std::uint32_t cost, Micros now) {
  for (const Rate& rate : rates) {
    if (rate.algorithm == Rate::Algorithm::no_limit) continue;
    Tier* tier = find_tier(*gate, rate);
    charge(rate, tier != nullptr ? *tier : new_tier(gate, rate, now), cost, now);
  }
}

Tier& Shard::new_tier(At<Gate> gate, const Rate& rate, Micros now) {
  drop_idle_tiers(*gate, now);
  const Ref ref = tiers_.take();
  Tier& tier = tiers_[ref];
  tier.owner = gate.ref;
  tier.algorithm = rate.algorithm;
  tier.period = rate.period.count();
  tier.count.set(rate.count);
  tier.burst.set(rate.burst);
  for (Word<Micros>& time : tier.time) time.set(-1);
  for (Word<std::uint32_t>& hits : tier.hits) hits.set(0);
  tier.part.set(0);
  tier.part_of.set(rate.count);
  tier.state.publish(TierState::charged);
  tier.next = gate->tiers;
  gate->tiers = ref;
  return tier;
}

void Shard::drop_idle_tiers(Gate& gate, Micros now) {
  for (Ref* place = &gate.tiers; *place != kNone;) {
    Tier& tier = tiers_[*place];
    if (reset_after(tier, now) > 0) {
      place = &tier.next;
      continue;
    }
    const Ref idle = *place;
    *place = tier.next;
    tier.state.publish(TierState::free);
    tiers_.give(idle);
  }
}

// A waiter's tiers: the new chain is complete before the one word that makes it the waiter's.
void Shard::write_wishes(At<Visit> visit, std::span<const Rate> rates) {
  Ref first = kNone;
  for (const Rate& rate : rates) {
    const Ref added = tiers_.take();
    Tier& tier = tiers_[added];
    tier.owner = visit.ref;
    tier.algorithm = rate.algorithm;
    tier.period = rate.period.count();
    tier.count.set(rate.count);
    tier.burst.set(rate.burst);
    tier.next = first;
    tier.state.publish(TierState::wish);
    first = added;
  }
  const Ref old = visit->wishes.get();
  visit->wishes.publish(first);
  drop_wishes(old);
}

Shard::Taken Shard::taken_by(const Visit& visit) const noexcept {
  Taken taken;
  if (visit.state() != VisitState::handed) return taken;
  taken.count = read_wishes(visit, taken.rates);
  taken.cost = visit.cost;
  return taken;
}

void Shard::give_back_all(const Gate& gate, const Taken& taken, Micros now) {
  for (std::size_t i = 0; i < taken.count; ++i) {
    Tier* tier = find_tier(gate, taken.rates[i]);
    if (tier != nullptr) give_back(*tier, taken.cost, now);
  }
}

void Shard::drop_wishes(Ref first) {
  while (first != kNone) {
    const Ref next = tiers_[first].next;
    tiers_[first].state.publish(TierState::free);
    tiers_.give(first);
    first = next;
  }
}

std::size_t Shard::read_wishes(const Visit& visit,
                               std::array<Rate, kMaxRates>& rates) const noexcept {
  std::size_t n = 0;
  for (Ref ref = visit.wishes.get(); ref != kNone && n < rates.size(); ref = tiers_[ref].next) {
    rates[n++] = tiers_[ref].rate();
  }
  return n;
}

}  // namespace airlock::model
