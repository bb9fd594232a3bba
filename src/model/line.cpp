#include <algorithm>

#include "model/tiers.hpp"
#include "model/visits.hpp"

namespace airlock::model {

void LineOrder::sum(Ref ref) const noexcept {
  ByOrder& node = (*nodes)[ref];
  node.in_subtree = 1;
  node.present_in_subtree = node.present ? 1 : 0;
  for (const Ref child : {node.links.left, node.links.right}) {
    if (child == kNone) continue;
    node.in_subtree += (*nodes)[child].in_subtree;
    node.present_in_subtree += (*nodes)[child].present_in_subtree;
  }
}

void Shard::reap(At<Gate> gate, Micros now) {
  const auto first_of = [&](const Ends& ends) {
    return ends.is_empty() ? At<Visit>() : visits_.at(ends.first);
  };
  TraversalBudget all(2 * visits_.end() + TraversalBudget::kLong);
  At<Visit> first = first_of(gate->inside);
  while (first && first->deadline() <= now) {
    all.step();
    reap_inside(gate, first, now);
    first = first_of(gate->inside);
  }
  gate->next_due = first ? first->deadline() : kNever;
  first = first_of(gate->outside);
  while (first && first->deadline() <= now) {
    all.step();
    pass_over(gate, first, now);
    first = first_of(gate->outside);
  }
  if (first) gate->next_due = std::min(gate->next_due, first->deadline());
}

// Who cannot be reached or does not come when called keeps the place for as long as its patience
// lasts.
void Shard::pass_over(At<Gate> gate, At<Visit> visit, Micros now) {
  if (visit->patience_end.get() <= now) {
    bump(gate->tallies.abandoned);
    return remove(gate, visit);
  }
  // A line may have begun anew since it was handed its slot.
  if (gate->line.is_empty()) {
    gate->order = visit->order;
    gate->aging = visit->aging;
  }
  visit->order = gate->order;
  visit->aging = gate->aging;
  move(gate, visit, VisitState::absent);
}

// A hand-over that nobody claims: what it took is given back.
void Shard::miss_turn(At<Gate> gate, At<Visit> visit, Micros now) {
  const Taken taken = taken_by(*visit);
  bump(gate->tallies.missed);
  pass_over(gate, visit, now);
  give_back_all(*gate, taken, now);
}

// An unclaimed hand-over goes back to its place; everything else ends.
void Shard::reap_inside(At<Gate> gate, At<Visit> visit, Micros now) {
  if (visit->state() == VisitState::handed) return miss_turn(gate, visit, now);
  Tallies& tallies = gate->tallies;
  if (visit->state() == VisitState::holding) {
    bump(visit->revoked.get() != 0 ? tallies.revoked : tallies.expired);
  }
  remove(gate, visit);
}

// The grant loop: as many from the line as fit, in order, until one does not.
void Shard::advance(At<Gate> gate, StepContext& context) {
  gate->rate_due = 0;
  const Micros paused = paused_until(*gate, context.now);
  if (paused != 0) {
    gate->next_due = std::min(gate->next_due, paused);
    return;
  }
  TraversalBudget all(visits_.end() + TraversalBudget::kLong);
  while (present(*gate) != 0 && !is_full(*gate)) {
    all.step();
    if (!hand_over(gate, visits_.at(candidate(*gate, context)), context)) break;
  }
  if (present(*gate) != 0) suspect_holders(gate, Listener::After::in_line);
}

// Whether nobody of the line can fit, whoever's turn it is.
bool Shard::is_full(const Gate& gate) noexcept {
  if (gate.in_use == 0 || gate.line_limit == kNone) return false;
  const std::uint32_t set = gate.limit_override.get();
  return gate.in_use >= (set == kNone ? gate.line_limit : set);
}

// Hands over, or passes over one who cannot be told. False: it does not fit or the rates refuse it,
// so nobody behind it comes in either.
bool Shard::hand_over(At<Gate> gate, At<Visit> visit, StepContext& context) {
  if (!fits(*gate, *visit)) return false;
  std::array<Rate, kMaxRates> rates;
  const RateAsk ask{{rates.data(), read_wishes(*visit, rates)}, RateMode::take, visit->cost, {}};
  RateVerdict verdict;
  weigh_all(*gate, ask, context.now, verdict);
  if (!verdict.allowed) {
    gate->rate_due = context.now + verdict.info.retry_after.count();
    gate->next_due = std::min(gate->next_due, gate->rate_due);
    return false;
  }
  if (!listener_.reachable(*visit)) {
    pass_over(gate, visit, context.now);
    return true;
  }
  if (visit->several) {
    call(gate, visit, context.now);
    return false;
  }
  if (!slots_.reserve(*gate) || !tiers_.reserve(kMaxRates)) return false;

  charge_all(gate, ask.rates, verdict, context.now);
  const Micros interval = context.now - gate->last_grant;
  gate->grant_interval =
      gate->grant_interval == 0 ? interval : (gate->grant_interval * 7 + interval + 4) / 8;
  gate->last_grant = context.now;
  const Fence fence = prepare(gate, visit, context.now + visit->claim_window, context);
  publish(gate, visit, VisitState::handed, fence);
  listener_.changed(visit.ref, *visit);
  return true;
}

// Tells a waiter for several gates that it is its turn here; nobody passes it until its window
// ends.
void Shard::call(At<Gate> gate, At<Visit> visit, Micros now) {
  if (visit->called_until != 0) return;
  by_deadline().erase(gate->outside, visit.ref);
  visit->called_until = now + visit->claim_window;
  // Its window is its own even if patience ends in it, also where a rebuild forgets the call.
  if (visit->patience_end.get() < visit->called_until) visit->patience_end.set(visit->called_until);
  insert_by_deadline(gate->outside, visit);
  gate->next_due = std::min(gate->next_due, visit->called_until);
  listener_.changed(visit.ref, *visit);
}

// Whose turn it is. REQUIRES: somebody is present.
Ref Shard::candidate(Gate& gate, StepContext& context) {
  if (gate.order == Order::fifo || gate.order == Order::priority) return head(gate);
  // A lottery keeps to its draw until that visitor is in or away: a heavy one is not drawn over by
  // light ones.
  if (gate.drawn.get() != kNone) return gate.drawn.get();
  const Draw before = context.draw;
  const Ref next = drawn(gate, context);
  if (may_win(gate, visits_[next], context.now)) {
    gate.drawn.set(next);
  } else {
    context.draw = before;  // How often somebody looks does not change who wins.
  }
  return next;
}

// Whether there is anything to draw for: what this waiter asks, or a part of it.
bool Shard::may_win(const Gate& gate, const Visit& visit, Micros now) const {
  if (!fits(gate, visit)) return fits(gate, visit.limit.get(), visit.exclusive, 1);
  if (visit.requested_rates.get() == kNone) return true;
  std::array<Rate, kMaxRates> rates;
  const RateAsk ask{{rates.data(), read_wishes(visit, rates)}, RateMode::take, visit.cost, {}};
  RateVerdict verdict;
  weigh_all(gate, ask, now, verdict);
  return verdict.allowed || verdict.info.remaining > 0;
}

Ref Shard::drawn(const Gate& gate, StepContext& context) const {
  const std::uint32_t n = present(gate);
  if (gate.order == Order::lottery) return nth_present(gate.line.root, context.draw.below(n));
  // Chance in proportion to tickets: draw anybody, keep with probability tickets / most tickets.
  // The oldest has the most.
  const auto tickets = [&](Ref ref) {
    const Micros waited = context.now - visits_[ref].joined;
    const Micros grown = gate.aging.base + waited / 1'000 * gate.aging.per_second / 1'000;
    return static_cast<std::uint32_t>(std::min<Micros>(grown, gate.aging.max));
  };
  constexpr int kTries = 64;
  const std::uint32_t most = tickets(head(gate));
  Ref oldest = kNone;
  for (int i = 0; i < kTries; ++i) {
    const Ref ref = nth_present(gate.line.root, context.draw.below(n));
    if (context.draw.below(most) < tickets(ref)) return ref;
    if (oldest == kNone || places_[ref].ticket < places_[oldest].ticket) oldest = ref;
  }
  return oldest;
}

// The first who is present. REQUIRES: somebody is.
Ref Shard::head(const Gate& gate) const {
  return places_[gate.line.first].present ? gate.line.first : nth_present(gate.line.root, 0);
}

// REQUIRES: n < present waiters below root.
Ref Shard::nth_present(Ref root, std::uint32_t n) const {
  TraversalBudget budget;
  while (true) {
    budget.step();
    const ByOrder& node = places_[root];
    // On its way while the left one is asked. Nobody can guess which way it goes: no branch.
    places_.prefetch(node.links.right);
    const std::uint32_t before = present_below(node.links.left);
    const std::uint32_t present = node.present ? 1 : 0;
    if (n - before < present) return root;
    const bool is_left = n < before;
    n = is_left ? n : n - before - present;
    root = is_left ? node.links.left : node.links.right;
  }
}

// 1-based, in the order of the line; others who are absent do not count. Who has just come is mostly
// the last, which needs no walk.
std::uint32_t Shard::position(const Gate& gate, Ref ref) const {
  if (ref == gate.line.last) return present(gate) + (places_[ref].present ? 0 : 1);
  TraversalBudget budget;
  std::uint32_t rank = 1 + present_below(places_[ref].links.left);
  for (Ref parent = places_[ref].links.parent; parent != kNone;) {
    budget.step();
    const ByOrder& above = places_[parent];
    if (above.links.right == ref) {
      rank += present_below(above.links.left) + (above.present ? 1 : 0);
    }
    ref = parent;
    parent = above.links.parent;
  }
  return rank;
}

// The position that a newcomer would have.
std::uint32_t Shard::next_position(const Gate& gate, std::uint16_t priority) const {
  TraversalBudget budget;
  std::uint32_t rank = 1;
  for (Ref at = gate.line.root; at != kNone;) {
    budget.step();
    const ByOrder& node = places_[at];
    const bool ahead = gate.order != Order::priority || node.priority >= priority;
    if (ahead) rank += present_below(node.links.left) + (node.present ? 1 : 0);
    at = ahead ? node.links.right : node.links.left;
  }
  return rank;
}

// When something may change at the gate by time alone.
Micros Shard::next_event(Gate& gate, Micros now) {
  Micros event = kNever;
  for (const Ends* ends : {&gate.inside, &gate.outside}) {
    if (!ends->is_empty()) event = std::min(event, deadlines_[ends->first].deadline);
  }
  if (!gate.line.is_empty() && gate.rate_due != 0) event = std::min(event, gate.rate_due);
  const Micros paused = paused_until(gate, now);
  if (paused != 0) event = std::min(event, paused);
  return event;
}

}  // namespace airlock::model
