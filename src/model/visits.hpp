#pragma once

#include <algorithm>

#include "base/hash.hpp"
#include "model/shard.hpp"

// The members of Shard that every admission and release runs, inline.

namespace airlock::model {

inline At<Gate> Shard::find_gate(std::string_view name, std::uint32_t hash) const {
  return gate_index_.find(hash, [&](const Gate& gate) { return gate.view() == name; });
}

inline At<Gate> Shard::open_gate(const GateName& name, std::uint32_t hash, StepContext& context) {
  const At<Gate> found = find_gate(name.view(), hash);
  return found ? found : new_gate(name, hash, context);
}

inline std::uint32_t Shard::visit_hash(Ref gate, const VisitorId& visitor) noexcept {
  return static_cast<std::uint32_t>(base::hash(visitor.high, visitor.low, gate));
}

inline At<Visit> Shard::find(Ref gate, const VisitorId& visitor) const {
  return visit_index_.find(visit_hash(gate, visitor), [&](const Visit& visit) {
    return visit.visitor == visitor && visit.gate == gate;
  });
}

// The visit that the token is proof of, if it is still inside.
inline At<Visit> Shard::holder_of(At<Gate> gate, const Token& token, StepContext& context) {
  if (!gate) return {};
  gate->last_used = context.now;
  if (context.now >= gate->next_due) settle(gate, context);
  const At<Visit> visit = find(gate.ref, token.visitor);
  const bool held = visit && visit->held() && token.fence != 0 && visit->fence() == token.fence;
  return held ? visit : At<Visit>();
}

inline std::uint64_t Shard::place_of(Ref visit) const noexcept {
  return (std::uint64_t{number_} + 1) << 32 | visit;
}

// A record that is filled in but not yet real. REQUIRES: room for a visit.
inline At<Visit> Shard::new_visit(At<Gate> gate, const Request& request, const Requester& requester,
                                  StepContext& context) {
  const At<Visit> visit = visits_.at(visits_.take());
  visit->hash = visit_hash(gate.ref, request.visitor);
  visit->gate = gate.ref;
  visit->visitor = request.visitor;
  if (request.permits) {
    visit->weight.set(request.permits->weight);
    visit->limit.set(request.permits->limit);
    visit->exclusive = request.permits->exclusive;
    visit->ttl = request.permits->ttl.count();
  } else {
    visit->weight.set(0);
    visit->ttl = 0;
  }
  visit->slot.set(kNone);
  visit->joined = context.now;
  visit->owner.set(request.hold == Hold::bound ? requester.owner : 0);
  visit->hold.set(request.hold);
  visit->requested_rates.set(kNone);
  visit->called_until = 0;
  visit->cost = request.cost;
  if (request.label.empty()) {
    visit->label = *requester.label;
  } else {
    visit->label = Label(request.label);
  }
  return visit;
}

inline bool Shard::reserve_visits(std::uint32_t count) {
  return visits_.reserve(count) && (visits_.has_same_extents_as(places_) || match_extents());
}

inline void Shard::insert_by_deadline(Ends& ends, At<Visit> visit) {
  deadlines_[visit.ref].deadline = visit->deadline();
  by_deadline().insert(ends, visit.ref);
}

inline void Shard::raise_line_limit(Gate& gate, const Visit& visit) noexcept {
  const std::uint32_t limit = visit.weight.get() != 0 ? visit.limit.get() : kNone;
  gate.line_limit = std::max(gate.line.is_empty() ? 0 : gate.line_limit, limit);
}

// Puts a visit where its state says it belongs.
inline void Shard::attach(At<Gate> gate, At<Visit> visit) {
  gate->next_due = std::min(gate->next_due, visit->deadline());
  if (visit->in_line()) {
    insert_by_deadline(gate->outside, visit);
    raise_line_limit(*gate, *visit);
    ByOrder& place = places_[visit.ref];
    place.priority = visit->priority;
    place.ticket = visit->ticket;
    place.present = visit->state() == VisitState::waiting;
    by_order().insert(gate->line, visit.ref);
    ++head_.waiters;
    return;
  }
  insert_by_deadline(gate->inside, visit);
  if (!visit->inside()) return;
  gate->in_use += visit->weight.get();
  ++gate->holders;
}

// Takes it out of there again.
inline void Shard::detach(At<Gate> gate, At<Visit> visit) {
  if (visit->in_line()) {
    by_deadline().erase(gate->outside, visit.ref);
    by_order().erase(gate->line, visit.ref);
    --head_.waiters;
    if (gate->drawn.get() == visit.ref) gate->drawn.set(kNone);
    return;
  }
  by_deadline().erase(gate->inside, visit.ref);
  if (!visit->inside()) return;
  gate->in_use -= visit->weight.get();
  --gate->holders;
  if (visit->slot.get() != kNone) slots_.give(*gate, visit->slot.get());
}

inline void Shard::link_owner(At<Visit> visit) {
  const std::uint32_t number = number_of(visit->owner.get());
  if (!owners_.has(number)) return;
  const Ref first = owners_.first(number);
  visit->owner_prev = kNone;
  visit->owner_next = first;
  if (first != kNone) visits_[first].owner_prev = visit.ref;
  owners_.set_first(number, visit.ref);
}

inline void Shard::unlink_owner(At<Visit> visit) {
  const std::uint32_t number = number_of(visit->owner.get());
  if (!owners_.has(number)) return;
  const Ref prev = visit->owner_prev;
  const Ref next = visit->owner_next;
  if (next != kNone) visits_[next].owner_prev = prev;
  if (prev != kNone) {
    visits_[prev].owner_next = next;
  } else {
    owners_.set_first(number, next);
  }
}

// For a visit that is known already.
inline void Shard::set_owner(At<Visit> visit, Hold hold, Owner owner) {
  unlink_owner(visit);
  visit->owner.set(hold == Hold::bound ? owner : 0);
  visit->hold.set(hold);
  link_owner(visit);
}

inline void Shard::remove(At<Gate> gate, At<Visit> visit) {
  listener_.changed(visit.ref, *visit);
  detach(gate, visit);
  --gate->visits;
  unlink_owner(visit);
  visit_index_.erase(visit);
  visit->publish(VisitState::free, visit->stamp());
  drop_wishes(visit->requested_rates.get());
  visits_.give(visit.ref);
  if (!visits_.has_same_extents_as(places_)) (void)match_extents();
}

// Law 7. In the shard before anyone can have it.
inline std::uint64_t Shard::next_stamp(const StepContext& context) {
  const auto wall = static_cast<std::uint64_t>(std::max<Micros>(context.wall, 0));
  head_.stamp.publish(std::max(head_.stamp.get() + 1, wall));
  return head_.stamp.get();
}

// Gives a new record or a waiter what an admission has, short of the state and the fence, which it
// returns. REQUIRES: Slots::reserve().
inline Fence Shard::prepare(At<Gate> gate, At<Visit> visit, Micros expiry, StepContext& context) {
  if (!visit->is_free()) detach(gate, visit);
  give_slot(*gate, *visit);
  visit->expiry.set(expiry);
  visit->revoked.set(0);
  visit->granted_at.set(context.now);
  const Fence fence = next_stamp(context);
  if (visit->weight.get() != 0) gate->last_fence.set(fence);
  return fence;
}

// Makes it known to find().
inline void Shard::add(At<Gate> gate, At<Visit> visit) {
  ++gate->visits;
  visit_index_.insert(visit);
  link_owner(visit);
}

inline void Shard::publish(At<Gate> gate, At<Visit> visit, VisitState state, std::uint64_t stamp) {
  const bool known = visit->in_line();
  visit->publish(state, stamp);
  if (!known) add(gate, visit);
  attach(gate, visit);
}

inline void Shard::give_slot(Gate& gate, Visit& visit) {
  visit.slot.set(visit.weight.get() == 1 ? slots_.take(gate) : kNone);
}

inline void Shard::count_grant(Tallies& tallies, Micros waited) {
  bump(tallies.granted);
  if (waited == 0) return bump(tallies.waits[0]);
  const auto bucket = std::ranges::lower_bound(Counters::kWaitBounds, Duration(waited));
  bump(tallies.waits[static_cast<std::size_t>(bucket - Counters::kWaitBounds.begin())]);
  tallies.wait_sum.set(tallies.wait_sum.get() + waited);
}

inline void Shard::check_order(const Gate& gate, const Request& request) const {
  if (!request.line.join || gate.line.is_empty()) return;
  if (request.line.order != gate.order ||
      (gate.order == Order::aging_lottery && request.line.aging != gate.aging)) {
    throw_other_order(gate.view());
  }
}

inline void Shard::note_limit(Gate& gate, const Permits& permits) const {
  if (gate.visits == 0) gate.limits_disagree = false;
  if (gate.limit_seen.get() != permits.limit) {
    if (gate.limit_seen.get() != 0 && gate.visits != 0) gate.limits_disagree = true;
    gate.limit_seen.set(permits.limit);
  }
  if (gate.exclusive_seen.get() != (permits.exclusive ? 1U : 0U)) {
    gate.exclusive_seen.set(permits.exclusive ? 1 : 0);
  }
}

// Law 1. A weight above an operator's limit runs alone.
inline bool Shard::fits(const Gate& gate, std::uint32_t limit, bool exclusive,
                        std::uint32_t weight) noexcept {
  const std::uint32_t set = gate.limit_override.get();
  const std::uint32_t effective = set == kNone ? limit : (exclusive ? std::min(set, limit) : set);
  if (std::uint64_t{gate.in_use} + weight <= effective) return true;
  return set != kNone && effective >= 1 && weight > effective && gate.in_use == 0;
}

// Rates only need no room.
inline bool Shard::fits(const Gate& gate, const Visit& visit) noexcept {
  const std::uint32_t weight = visit.weight.get();
  return weight == 0 || fits(gate, visit.limit.get(), visit.exclusive, weight);
}

}  // namespace airlock::model
