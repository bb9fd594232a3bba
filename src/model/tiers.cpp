#include "model/tiers.hpp"

#include <algorithm>

namespace airlock::model {

// How much of the cost every tier has now.
std::uint32_t Shard::available_of(const Gate& gate, const RateAsk& ask, Micros now) const {
  std::uint32_t most = ask.cost;
  for (const Rate& rate : ask.rates) {
    most = std::min(most, available(rate, find_tier(gate, rate), now));
  }
  return most;
}

// Peek, at most, reserve.
void Shard::weigh_in_mode(const Gate& gate, const RateAsk& ask, Micros now,
                          RateVerdict& verdict) const {
  verdict.taken = ask.mode == RateMode::at_most ? available_of(gate, ask, now) : ask.cost;
  const std::uint32_t cost = std::max(verdict.taken, 1U);
  for (std::size_t i = 0; i < ask.rates.size(); ++i) {
    const Rate& rate = ask.rates[i];
    Tier* const tier = find_tier(gate, rate);
    Tally tally = weigh(rate, tier, cost, now);
    if (ask.mode == RateMode::peek && tally.allowed) tally.info = weigh(rate, tier, 0, now).info;
    if (ask.mode == RateMode::reserve && !tally.allowed &&
        tally.delay <= std::min(ask.max_delay, kMaxTtl)) {
      tally.allowed = true;
      tally.info = after_reserving(rate, tier, cost, now);
    }
    verdict.add(i, tier, tally);
  }
  if (!verdict.allowed || ask.mode == RateMode::peek) verdict.taken = 0;
}

// How the tiers stand to a cost that is not taken.
RateInfo Shard::standing(const Gate& gate, std::span<const Rate> rates, std::uint32_t cost,
                         Micros now) const {
  if (rates.empty()) return {};
  RateVerdict verdict;
  weigh_all(gate, {rates, RateMode::peek, cost, {}}, now, verdict);
  return verdict.info;
}

Tier& Shard::new_tier(At<Gate> gate, const Rate& rate) {
  const Ref ref = tiers_.take();
  Tier& tier = tiers_[ref];
  tier.owner = gate.ref;
  tier.algorithm = rate.algorithm;
  tier.period = rate.period.count();
  tier.count.set(rate.count);
  tier.burst.set(rate.burst);
  for (PublishedField<Micros>& time : tier.time) time.set(-1);
  for (PublishedField<std::uint32_t>& hits : tier.hits) hits.set(0);
  tier.part.set(0);
  tier.part_of.set(rate.count);
  tier.state.publish(TierState::charged);
  tier.next = gate->tiers;
  gate->tiers = ref;
  return tier;
}

void Shard::drop_idle_tiers(Gate& gate, Micros now) {
  TraversalBudget budget;
  for (Ref* link = &gate.tiers; *link != kNone;) {
    budget.step();
    Tier& tier = tiers_[*link];
    if (reset_after(tier, now) > 0) {
      link = &tier.next;
      continue;
    }
    const Ref idle = *link;
    *link = tier.next;
    tier.state.publish(TierState::free);
    tiers_.give(idle);
  }
}

// A waiter's tiers: the new chain is complete before the one word that makes it the waiter's.
void Shard::write_wishes(At<Visit> visit, std::span<const Rate> rates) {
  Ref first = kNone;
  for (std::size_t i = rates.size(); i-- > 0;) {
    const Rate& rate = rates[i];
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
  const Ref old = visit->requested_rates.get();
  visit->requested_rates.publish(first);
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
  TraversalBudget budget;
  while (first != kNone) {
    budget.step();
    const Ref next = tiers_[first].next;
    tiers_[first].state.publish(TierState::free);
    tiers_.give(first);
    first = next;
  }
}

std::size_t Shard::read_wishes(const Visit& visit,
                               std::array<Rate, kMaxRates>& rates) const noexcept {
  std::size_t n = 0;
  for (Ref ref = visit.requested_rates.get(); ref != kNone && n < rates.size();
       ref = tiers_[ref].next) {
    rates[n++] = tiers_[ref].rate();
  }
  return n;
}

}  // namespace airlock::model
