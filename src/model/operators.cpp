#include <algorithm>

#include "model/visits.hpp"

namespace airlock::model {
namespace {

Counters read(const Tallies& tallies) {
  Counters counters;
  counters.granted = tallies.granted.get();
  std::ranges::transform(tallies.refused, counters.refused.begin(),
                         &PublishedField<std::uint64_t>::get);
  counters.expired = tallies.expired.get();
  counters.revoked = tallies.revoked.get();
  counters.died = tallies.died.get();
  counters.missed = tallies.missed.get();
  counters.abandoned = tallies.abandoned.get();
  std::ranges::transform(tallies.waits, counters.waits.begin(),
                         &PublishedField<std::uint64_t>::get);
  counters.wait_sum = Duration(tallies.wait_sum.get());
  return counters;
}

HolderView holder_view(const Visit& visit, Micros now) {
  return {.visitor = visit.visitor,
          .label = std::string(visit.label.view()),
          .fence = visit.fence(),
          .weight = visit.weight.get(),
          .slot = visit.slot.get() == kNone ? Slot() : Slot(visit.slot.get()),
          .age = Duration(now - visit.granted_at.get()),
          .remaining = Duration(visit.expiry.get() - now),
          .claimed = visit.state() == VisitState::holding,
          .revoked = visit.revoked.get() != 0,
          .hold = visit.hold.get()};
}

WaiterView waiter_view(const Visit& visit, Micros now) {
  return {.visitor = visit.visitor,
          .label = std::string(visit.label.view()),
          .weight = visit.weight.get(),
          .priority = visit.priority,
          .waited = Duration(now - visit.joined),
          .present = visit.state() == VisitState::waiting,
          .hold = visit.hold.get()};
}

}  // namespace

// By the newest request; 0: none had permits and there is no override.
std::uint32_t Shard::limit_in_effect(const Gate& gate) noexcept {
  const std::uint32_t set = gate.limit_override.get();
  const std::uint32_t seen = gate.limit_seen.get();
  if (set == kNone) return seen;
  return gate.exclusive_seen.get() != 0 && seen != 0 ? std::min(set, seen) : set;
}

GateCounts Shard::counts(std::string_view name, std::uint32_t hash, StepContext& context) {
  const At<Gate> found = find_gate(name, hash);
  if (!found) return {};
  if (found->visits != 0) suspect_holders(found, Listener::After::refused);
  settle(found, context);
  const Gate& gate = *found;
  return {.in_use = gate.in_use,
          .limit = limit_in_effect(gate),
          .overridden = gate.limit_override.get() != kNone,
          .holders = gate.holders,
          .waiting = waiting(gate),
          .exclusive = gate.exclusive_seen.get() != 0 && gate.limit_seen.get() != 0};
}

std::optional<GateView> Shard::summary(std::string_view name, std::uint32_t hash,
                                       StepContext& context) {
  const At<Gate> found = find_gate(name, hash);
  if (!found) return std::nullopt;
  GateView view{.name = std::string(name), .counts = counts(name, hash, context)};
  Gate& gate = *found;
  if (gate.limit_override.get() != kNone) view.override_limit = gate.limit_override.get();
  view.limits_disagree = gate.limits_disagree && gate.visits != 0;
  if (gate.order <= Order::aging_lottery) view.order = gate.order;
  view.last_fence = gate.last_fence.get();
  TraversalBudget all(visits_.end() + tiers_.end() + pauses_.end());
  if (view.counts.exclusive && view.counts.holders == 1) {
    TraversalBudget walk = walk_of(gate);
    view.holders = holders_of(gate, context.now, walk);
  }
  for (Ref at = gate.tiers; at != kNone; at = tiers_[at].next) {
    all.step();
    const Rate rate = tiers_[at].rate();
    view.rates.push_back({rate, weigh(rate, &tiers_[at], 0, context.now).info});
  }
  std::ranges::sort(view.rates, {}, [](const RateView& rate) {
    return std::pair(rate.rate.period, rate.rate.algorithm);
  });
  drop_pauses(gate, context.now);
  for (Ref at = gate.pauses; at != kNone; at = pauses_[at].next) {
    all.step();
    const Pause& pause = pauses_[at];
    view.pauses.push_back(
        {std::string(pause.reporter.view()), Duration(pause.until.get() - context.now)});
  }
  std::ranges::sort(view.pauses, {}, &PauseView::reporter);
  view.counters = read(gate.tallies);
  return view;
}

// For all visits of a gate: each is looked at, and each way in a tree is gone down and up. What a damaged
// segment shows beyond that is not copied.
TraversalBudget Shard::walk_of(const Gate& gate) const noexcept {
  constexpr std::uint32_t kAtLeast = 64;
  return TraversalBudget(3 * std::min(gate.visits, visits_.end()) + kAtLeast);
}

// Oldest first.
std::vector<HolderView> Shard::holders_of(const Gate& gate, Micros now,
                                          TraversalBudget& budget) const {
  std::vector<HolderView> holders;
  for (Ref at = gate.inside.first; at != kNone; at = by_deadline().next(at, budget)) {
    budget.step();
    if (visits_[at].held()) holders.push_back(holder_view(visits_[at], now));
  }
  std::ranges::stable_sort(holders, std::greater(), &HolderView::age);
  return holders;
}

std::optional<GateView> Shard::look(std::string_view name, std::uint32_t hash,
                                    StepContext& context) {
  std::optional<GateView> view = summary(name, hash, context);
  if (!view) return std::nullopt;
  const Gate& gate = *find_gate(name, hash);
  TraversalBudget all = walk_of(gate);
  view->holders = holders_of(gate, context.now, all);
  for (Ref at = gate.line.first; at != kNone; at = by_order().next(at, all)) {
    all.step();
    view->line.push_back(waiter_view(visits_[at], context.now));
  }
  return view;
}

void Shard::list(std::vector<std::string>& names, StepContext& context) {
  sweep_all(context);
  gates_.for_each([&](Ref ref) { names.emplace_back(gates_[ref].view()); });
}

void Shard::set_limit(const GateName& name, std::uint32_t hash, std::optional<std::uint32_t> limit,
                      StepContext& context) {
  const At<Gate> gate = limit ? open_gate(name, hash, context) : find_gate(name.view(), hash);
  if (!gate) return;
  gate->last_used = context.now;
  gate->limit_override.publish(limit.value_or(kNone));
  settle(gate, context);
  sweep_in_passing(context);
}

void Shard::pause(const GateName& name, std::uint32_t hash, Duration duration,
                  std::string_view reporter, StepContext& context) {
  if (!pauses_.reserve(1)) throw_no_room("another pause");
  const At<Gate> gate = open_gate(name, hash, context);
  gate->last_used = context.now;
  settle(gate, context);
  drop_pauses(*gate, context.now);
  const Micros until = context.now + duration.count();
  gate->next_due = std::min(gate->next_due, until);
  TraversalBudget budget;
  for (Ref at = gate->pauses; at != kNone; at = pauses_[at].next) {
    budget.step();
    Pause& pause = pauses_[at];
    if (pause.reporter.view() == reporter) {
      return pause.until.publish(until);
    }
  }
  const Ref ref = pauses_.take();
  Pause& pause = pauses_[ref];
  pause.gate = gate.ref;
  pause.until.set(until);
  pause.reporter = Label(reporter);
  pause.state.publish(1);
  pause.next = gate->pauses;
  gate->pauses = ref;
}

bool Shard::resume(std::string_view name, std::uint32_t hash, std::string_view reporter,
                   StepContext& context) {
  const At<Gate> gate = find_gate(name, hash);
  if (!gate) return false;
  gate->last_used = context.now;
  drop_pauses(*gate, context.now);
  bool found = false;
  TraversalBudget budget;
  for (Ref at = gate->pauses; at != kNone; at = pauses_[at].next) {
    budget.step();
    Pause& pause = pauses_[at];
    if (pause.reporter.view() != reporter) continue;
    pause.until.publish(context.now);
    found = true;
  }
  settle(gate, context);
  sweep_in_passing(context);
  return found;
}

std::size_t Shard::revoke(std::string_view name, std::uint32_t hash,
                          const std::optional<VisitorId>& visitor, Revoke how,
                          StepContext& context) {
  const At<Gate> gate = find_gate(name, hash);
  if (!gate) return 0;
  gate->last_used = context.now;
  settle(gate, context);
  std::vector<Ref> holders;
  TraversalBudget all(visits_.end() + TraversalBudget::kLong);
  for (Ref at = gate->inside.first; at != kNone; at = by_deadline().next(at)) {
    all.step();
    if (visits_[at].inside() && (!visitor || visits_[at].visitor == *visitor)) {
      holders.push_back(at);
    }
  }
  for (const Ref ref : holders) revoke_one(gate, visits_.at(ref), how, context.now);
  settle(gate, context);
  sweep_in_passing(context);
  return holders.size();
}

bool Shard::purge(std::string_view name, std::uint32_t hash, StepContext& context) {
  const At<Gate> found = find_gate(name, hash);
  if (!found) return false;
  Gate& gate = *found;
  gate.last_used = context.now;
  TraversalBudget all(visits_.end() + TraversalBudget::kLong);
  for (const Ends* ends : {&gate.outside, &gate.inside}) {
    for (Ref ref = ends->first; ref != kNone; ref = ends->first) {
      all.step();
      remove(found, visits_.at(ref));
    }
  }
  for (Ref at = gate.tiers; at != kNone;) {
    all.step();
    const Ref next = tiers_[at].next;
    tiers_[at].state.publish(TierState::free);
    tiers_.give(at);
    at = next;
  }
  gate.tiers = kNone;
  for (Ref at = gate.pauses; at != kNone; at = pauses_[at].next) {
    all.step();
    pauses_[at].until.publish(context.now);
  }
  drop_pauses(gate, context.now);
  gate.limit_override.publish(kNone);
  gate.limit_seen.set(0);
  gate.grant_interval = 0;
  return true;
}

}  // namespace airlock::model
