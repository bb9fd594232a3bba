#include <algorithm>

#include "model/visits.hpp"

namespace airlock::model {

void Shard::rebuild(StepContext& context) {
  resolve_pending();
  drop_the_impossible(context.now);
  drop_orphan_wishes();
  slot_nodes_.for_each([&](Ref ref) { slot_nodes_[ref].used = 0; });
  gates_.rebuild();
  visits_.rebuild();
  tiers_.rebuild();
  pauses_.rebuild();
  slot_nodes_.rebuild();
  reset_gates();
  relink();
  gates_.for_each([&](Ref gate) { settle(gates_.at(gate), context); });
}

// A cut release is finished. A cut group admission is finished if its leader is in, else undone.
void Shard::resolve_pending() {
  visits_.for_each([&](Ref ref) {
    Visit& visit = visits_[ref];
    if (visit.state() == VisitState::returning) visit.publish(VisitState::free, visit.stamp());
    if (visit.state() != VisitState::pending) return;
    const bool in_force = visits_.live(visit.leader) &&
                          visits_[visit.leader].state() == VisitState::holding &&
                          visits_[visit.leader].visitor == visit.visitor &&
                          visits_[visit.leader].stamp() == visit.leader_fence;
    const VisitState before = visit.waited ? VisitState::waiting : VisitState::free;
    visit.publish(in_force ? VisitState::holding : before, visit.stamp());
  });
}

// Where all is well there is nothing like this. Times are bounded, so that nothing lasts for ever.
void Shard::drop_the_impossible(Micros now) {
  const Micros latest = now + kMaxTtl.count();
  const auto bound = [&](PublishedField<Micros>& time) {
    if (time.get() > latest) time.set(latest);
  };
  visits_.for_each([&](Ref ref) {
    Visit& visit = visits_[ref];
    const bool possible = visit.state() <= VisitState::spent && gates_.live(visit.gate) &&
                          (!visit.in_line() || visit.order <= Order::aging_lottery);
    if (!possible) return visit.publish(VisitState::free, visit.stamp());
    bound(visit.expiry);
    bound(visit.patience_end);
  });
  tiers_.for_each([&](Ref ref) {
    Tier& tier = tiers_[ref];
    const bool charged = tier.state.get() == TierState::charged;
    const bool possible = charged ? gates_.live(tier.owner) : tier.state.get() == TierState::wish;
    if (!possible) tier.state.publish(TierState::free);
    bound(tier.time[0]);
  });
  pauses_.for_each([&](Ref ref) {
    if (!gates_.live(pauses_[ref].gate)) pauses_[ref].state.publish(0);
    bound(pauses_[ref].until);
  });
}

// Tiers of a waiter that is gone, or that has others by now.
void Shard::drop_orphan_wishes() {
  tiers_.for_each([&](Ref ref) {
    Tier& tier = tiers_[ref];
    if (tier.state.get() != TierState::wish) return;
    bool wanted = false;
    if (visits_.live(tier.owner)) {
      Ref at = visits_[tier.owner].requested_rates.get();
      for (std::size_t n = 0; at != kNone && n < kMaxRates && !wanted; ++n) {
        wanted = at == ref;
        at = tiers_[at].next;
      }
    }
    if (!wanted) tier.state.publish(TierState::free);
  });
}

// Whether a lottery of the gate may have chosen this one. A death may have come before it was
// forgotten.
bool Shard::is_draw_of(Ref gate, Ref drawn) const noexcept {
  if (drawn == kNone || !visits_.live(drawn)) return false;
  return visits_[drawn].gate == gate && visits_[drawn].state() == VisitState::waiting;
}

void Shard::reset_gates() {
  if (!gate_index_.reserve() || !match_extents()) return;  // Then there is nothing to link.
  gate_index_.clear();
  visit_index_.clear();
  owners_.clear();
  head_.waiters = 0;
  gates_.for_each([&](Ref ref) {
    Gate& gate = gates_[ref];
    gate.in_use = gate.holders = gate.visits = 0;
    gate.inside = gate.outside = gate.line = {};
    gate.tiers = gate.pauses = kNone;
    gate.next_due = kNever;
    gate.rate_due = 0;
    gate.look_from = kNone;
    gate.low_slots = 0;
    gate.high_slots = kNone;
    gate.high_levels = 0;
    if (!is_draw_of(ref, gate.drawn.get())) gate.drawn.set(kNone);
    gate_index_.insert(gates_.at(ref));
  });
}

void Shard::relink() {
  visits_.for_each([&](Ref ref) {
    Visit& visit = visits_[ref];
    Gate& gate = gates_[visit.gate];
    visit.called_until = 0;
    ++gate.visits;
    visit_index_.insert(visits_.at(ref));
    link_owner(visits_.at(ref));
    head_.stamp.publish(std::max(head_.stamp.get(), visit.stamp()));
    if (visit.inside() && visit.fence() > gate.last_fence.get()) gate.last_fence.set(visit.fence());
    if (visit.in_line()) {
      gate.order = visit.order;
      gate.aging = visit.aging;
    } else if (visit.weight.get() == 1 && visit.inside() && visit.slot.get() != kNone) {
      if (!slots_.mark(gate, visit.slot.get())) visit.slot.set(kNone);
    }
    attach(gates_.at(visit.gate), visits_.at(ref));
  });
  // A change of weight was cut before its slot number.
  visits_.for_each([&](Ref ref) {
    Visit& visit = visits_[ref];
    if (!visit.inside()) return;
    if (visit.weight.get() != 1) {
      visit.slot.set(kNone);
    } else if (visit.slot.get() == kNone && slots_.reserve(gates_[visit.gate])) {
      give_slot(gates_[visit.gate], visit);
    }
  });
  tiers_.for_each([&](Ref ref) {
    if (tiers_[ref].state.get() != TierState::charged) return;
    tiers_[ref].next = gates_[tiers_[ref].owner].tiers;
    gates_[tiers_[ref].owner].tiers = ref;
  });
  pauses_.for_each([&](Ref ref) {
    pauses_[ref].next = gates_[pauses_[ref].gate].pauses;
    gates_[pauses_[ref].gate].pauses = ref;
  });
}

}  // namespace airlock::model
