#pragma once

#include <algorithm>

#include "model/rates.hpp"
#include "model/shard.hpp"

// The members of Shard that every decision with a rate runs, inline.

namespace airlock::model {

inline Tier* Shard::find_tier(const Gate& gate, const Rate& rate) const {
  TraversalBudget budget;
  for (Ref ref = gate.tiers; ref != kNone;) {
    Tier& tier = tiers_[ref];
    if (tier.period == rate.period.count() && tier.algorithm == rate.algorithm) return &tier;
    budget.step();
    ref = tier.next;
  }
  return nullptr;
}

// Adds a tier to what all say. The tightest speaks: of those that refuse, the one that takes
// longest; else the one with the least left.
inline void RateVerdict::add(std::size_t i, Tier* tier, const Tally& tally) noexcept {
  const bool tighter = tally.allowed != allowed ? !tally.allowed
                       : tally.allowed          ? tally.info.remaining < info.remaining
                                                : tally.info.retry_after > info.retry_after;
  if (i == 0 || tighter) {
    info.limit = tally.info.limit;
    info.remaining = tally.info.remaining;
    info.retry_after = tally.info.retry_after;
    info.reset_after = tally.info.reset_after;
  }
  weighed[i] = {tier, tally.after};
  allowed = allowed && tally.allowed;
  never = never || tally.delay == kForever;
  delay = std::max(delay, tally.delay);
}

// REQUIRES: a verdict as constructed.
inline void Shard::weigh_all(const Gate& gate, const RateAsk& ask, Micros now,
                             RateVerdict& verdict) const {
  if (ask.mode != RateMode::take) return weigh_in_mode(gate, ask, now, verdict);
  for (std::size_t i = 0; i < ask.rates.size(); ++i) {
    Tier* const tier = find_tier(gate, ask.rates[i]);
    verdict.add(i, tier, weigh(ask.rates[i], tier, ask.cost, now));
  }
  verdict.taken = verdict.allowed ? ask.cost : 0;
}

// Takes what was weighed. REQUIRES: room for as many tiers.
inline void Shard::charge_all(At<Gate> gate, std::span<const Rate> rates,
                              const RateVerdict& verdict, Micros now) {
  bool added = false;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const Rate& rate = rates[i];
    if (rate.algorithm == Rate::Algorithm::no_limit) continue;
    Tier* tier = verdict.weighed[i].tier;
    if (tier == nullptr) {
      tier = &new_tier(gate, rate);
      added = true;
    }
    charge(rate, *tier, verdict.taken, verdict.weighed[i].after, now);
  }
  if (added) drop_idle_tiers(*gate, now);
}

}  // namespace airlock::model
