#include <algorithm>

#include "model/visits.hpp"

namespace airlock::model {

void Shard::ByOrder::update(Ref ref) const noexcept {
  Visit& visit = (*visits)[ref];
  visit.in_subtree = 1;
  visit.present_in_subtree = visit.state() == VisitState::waiting ? 1 : 0;
  for (const Ref child : {visit.by_order.left, visit.by_order.right}) {
    if (child == kNone) continue;
    visit.in_subtree += (*visits)[child].in_subtree;
    visit.present_in_subtree += (*visits)[child].present_in_subtree;
  }
}

std::uint32_t Shard::waiting(const Gate& gate) const noexcept {
  return gate.line == kNone ? 0 : visits_[gate.line].in_subtree;
}

std::uint32_t Shard::present(const Gate& gate) const noexcept {
  return gate.line == kNone ? 0 : visits_[gate.line].present_in_subtree;
}

void Shard::reap(At<Gate> gate, Micros now) {
  const auto first_of = [&](Ref root) {
    const Ref first = by_deadline().first(root);
    return first == kNone ? At<Visit>() : visits_.at(first);
  };
  At<Visit> first = first_of(gate->inside);
  while (first && first->deadline() <= now) {
    reap_inside(gate, first, now);
    first = first_of(gate->inside);
  }
  gate->next_due = first ? first->deadline() : kNever;
  first = first_of(gate->outside);
  while (first && first->deadline() <= now) {
    if (first->called_until != 0 && first->patience_end.get() > now) {
      move(gate, first, VisitState::absent);
    } else {
      bump(gate->tallies.abandoned);
      remove(gate, first);
    }
    first = first_of(gate->outside);
  }
  if (first) gate->next_due = std::min(gate->next_due, first->deadline());
}

// An unclaimed hand-over goes back to its place, if its patience lasts; everything else ends.
void Shard::reap_inside(At<Gate> gate, At<Visit> visit, Micros now) {
  Tallies& tallies = gate->tallies;
  if (visit->state() == VisitState::holding) {
    bump(visit->revoked.get() != 0 ? tallies.revoked : tallies.expired);
  } else if (visit->state() == VisitState::handed) {
    const Taken taken = taken_by(*visit);
    bump(tallies.missed);
    if (visit->patience_end.get() > now) {
      move(gate, visit, VisitState::absent);
    } else {
      bump(tallies.abandoned);
      remove(gate, visit);
    }
    return give_back_all(*gate, taken, now);
  }
  remove(gate, visit);
}

// The grant loop: as many from the line as fit, in order, until one does not.
void Shard::advance(At<Gate> gate, Moment& moment) {
  gate->rate_due = 0;
  if (paused_until(*gate, moment.now) != 0) return;
  for (Ref next = candidate(*gate, moment); next != kNone; next = candidate(*gate, moment)) {
    const At<Visit> visit = visits_.at(next);
    if (!listener_.reachable(*visit)) {
      move(gate, visit, VisitState::absent);
    } else if (!hand_over(gate, visit, moment)) {
      return;
    }
  }
}

// False: it does not fit or the rates refuse it, so nobody behind it comes in either.
bool Shard::hand_over(At<Gate> gate, At<Visit> visit, Moment& moment) {
  const std::uint32_t weight = visit->weight.get();
  if (weight != 0 && !fits(*gate, visit->limit.get(), visit->exclusive, weight)) {
    // Without room for anybody there was nothing to draw for; with too little it stays its turn.
    if (!fits(*gate, visit->limit.get(), visit->exclusive, 1)) gate->drawn = kNone;
    return false;
  }
  std::array<Rate, kMaxRates> rates;
  const RateAsk ask{{rates.data(), read_wishes(*visit, rates)}, RateMode::take, visit->cost, {}};
  const RateVerdict verdict = weigh_all(*gate, ask, moment.now);
  if (!verdict.allowed) {
    gate->rate_due = moment.now + verdict.info.retry_after.count();
    if (verdict.info.remaining == 0) gate->drawn = kNone;
    return false;
  }
  if (visit->several) {
    call(gate, visit, moment.now);
    return false;
  }
  if (!slots_.reserve(*gate) || !tiers_.reserve(kMaxRates)) return false;

  charge_all(gate, ask.rates, visit->cost, moment.now);
  const Micros interval = moment.now - gate->last_grant;
  gate->grant_interval =
      gate->grant_interval == 0 ? interval : (gate->grant_interval * 7 + interval + 4) / 8;
  gate->last_grant = moment.now;
  const Fence fence = prepare(gate, visit, moment.now + visit->claim_window, moment);
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
  by_deadline().insert(gate->outside, visit.ref);
  gate->next_due = std::min(gate->next_due, visit->called_until);
  listener_.changed(visit.ref, *visit);
}

// Whose turn it is.
Ref Shard::candidate(Gate& gate, Moment& moment) {
  if (present(gate) == 0) return kNone;
  if (gate.order == Order::fifo || gate.order == Order::priority) return nth_present(gate.line, 0);
  // A lottery keeps to its draw until that visitor is in or away: a heavy one is not drawn over by
  // light ones.
  if (gate.drawn == kNone) gate.drawn = drawn(gate, moment);
  return gate.drawn;
}

Ref Shard::drawn(const Gate& gate, Moment& moment) const {
  const std::uint32_t n = present(gate);
  if (gate.order == Order::lottery) return nth_present(gate.line, moment.draw.below(n));
  // Chance in proportion to tickets: draw anybody, keep with probability tickets / most tickets.
  // The oldest has the most.
  const auto tickets = [&](Ref ref) {
    const Micros waited = moment.now - visits_[ref].joined;
    const Micros grown = gate.aging.base + waited / 1'000 * gate.aging.per_second / 1'000;
    return static_cast<std::uint32_t>(std::min<Micros>(grown, gate.aging.max));
  };
  constexpr int kTries = 64;
  const std::uint32_t most = tickets(nth_present(gate.line, 0));
  Ref oldest = kNone;
  for (int i = 0; i < kTries; ++i) {
    const Ref ref = nth_present(gate.line, moment.draw.below(n));
    if (moment.draw.below(most) < tickets(ref)) return ref;
    if (oldest == kNone || visits_[ref].ticket < visits_[oldest].ticket) oldest = ref;
  }
  return oldest;
}

// REQUIRES: n < present waiters below root.
Ref Shard::nth_present(Ref root, std::uint32_t n) const noexcept {
  while (true) {
    const Visit& visit = visits_[root];
    const Ref left = visit.by_order.left;
    const std::uint32_t before = left == kNone ? 0 : visits_[left].present_in_subtree;
    if (n < before) {
      root = left;
      continue;
    }
    n -= before;
    const bool here = visit.state() == VisitState::waiting;
    if (here && n == 0) return root;
    n -= here ? 1 : 0;
    root = visit.by_order.right;
  }
}

// 1-based, in the order of the line; those who are absent do not count.
std::uint32_t Shard::position(Ref ref) const noexcept {
  const auto before = [&](Ref left) {
    return left == kNone ? 0 : visits_[left].present_in_subtree;
  };
  std::uint32_t place = 1 + before(visits_[ref].by_order.left);
  for (Ref parent = visits_[ref].by_order.parent; parent != kNone;
       parent = visits_[ref].by_order.parent) {
    const Visit& above = visits_[parent];
    if (above.by_order.right == ref) {
      place += before(above.by_order.left) + (above.state() == VisitState::waiting ? 1 : 0);
    }
    ref = parent;
  }
  return place;
}

// The position that a newcomer would have.
std::uint32_t Shard::next_position(const Gate& gate, std::uint16_t priority) const noexcept {
  std::uint32_t place = 1;
  for (Ref at = gate.line; at != kNone;) {
    const Visit& visit = visits_[at];
    const bool ahead = gate.order != Order::priority || visit.priority >= priority;
    if (ahead) {
      const Ref left = visit.by_order.left;
      place += left == kNone ? 0 : visits_[left].present_in_subtree;
      place += visit.state() == VisitState::waiting ? 1 : 0;
    }
    at = ahead ? visit.by_order.right : visit.by_order.left;
  }
  return place;
}

// When something may change at the gate by time alone.
Micros Shard::next_event(Gate& gate, Micros now) {
  Micros event = kNever;
  for (const Ref root : {gate.inside, gate.outside}) {
    const Ref first = by_deadline().first(root);
    if (first != kNone) event = std::min(event, visits_[first].deadline());
  }
  if (gate.rate_due != 0) event = std::min(event, gate.rate_due);
  const Micros paused = paused_until(gate, now);
  if (paused != 0) event = std::min(event, paused);
  return event;
}

}  // namespace airlock::model
