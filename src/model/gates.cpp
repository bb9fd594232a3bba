#include <algorithm>
#include <utility>

#include "model/visits.hpp"

namespace airlock::model {

Shard::Shard(ShardHead& head, Memory& memory, Listener& listener, StoreId store,
             std::uint32_t number, const OwnerLists& owners) noexcept
    : head_(head),
      listener_(listener),
      store_(store),
      number_(number),
      gates_(head.gates, memory, Region::gates),
      visits_(head.visits, memory, Region::visits),
      deadlines_(memory, Region::deadlines, head.deadlines),
      places_(memory, Region::places, head.places),
      tiers_(head.tiers, memory, Region::tiers),
      pauses_(head.pauses, memory, Region::pauses),
      slot_nodes_(head.slots, memory, Region::slots),
      gate_index_(head.gate_index, gates_, memory, Region::gate_index),
      visit_index_(head.visit_index, visits_, memory, Region::visit_index),
      slots_(slot_nodes_),
      owners_(owners) {}

void throw_no_room(const char* what_for) {
  throw StoreError(StoreError::Kind::no_room, StoreError::Outcome::nothing_happened,
                   std::string("the store has no room for ") + what_for);
}

void throw_damaged() {
  leash_detail::g_damage = true;
  throw StoreError(StoreError::Kind::busy, StoreError::Outcome::unknown,
                   "the store's memory was damaged and is being repaired; ask again");
}

void throw_other_order(std::string_view gate) {
  throw InvalidArgument("gate \"" + std::string(gate) +
                        "\" has a line with another order; it can change when the line is empty");
}

At<Gate> Shard::new_gate(const GateName& name, std::uint32_t hash, StepContext& context) {
  // Two sweeps forget an unused gate: with four places for each new one the table stops growing.
  sweep(has_many_gates() ? 4 : 2, context);
  const auto reserve = [this] { return gate_index_.reserve() && gates_.reserve(1); };
  if (!reserve() && !(evict(context) && reserve())) throw_no_room("another gate");
  const Ref ref = gates_.take();
  const At<Gate> gate{ref, new (&gates_[ref]) Gate};
  gate->hash = hash;
  gate->name_size = static_cast<std::uint8_t>(name.view().size());
  name.view().copy(gate->name.data(), gate->name.size());
  gate->limit_override.set(kNone);
  gate->drawn.set(kNone);
  gate->next_due = kNever;
  gate->last_used = context.now;
  gate->state.publish(1);
  gate_index_.insert(gate);
  return gate;
}

void Shard::collect(At<Gate> gate) {
  gate_index_.erase(gate);
  gate->state.publish(0);
  gates_.give(gate.ref);
}

// A gate that was used at this very moment may be part of the step that sweeps.
bool Shard::is_idle(const Gate& gate, Idle how, Micros now) noexcept {
  if (now - gate.last_used >= kIdleGate) return true;
  if (how == Idle::long_since || gate.last_used == now) return false;
  return how == Idle::at_all || gate.swept_used == gate.last_used;
}

bool Shard::collectable(At<Gate> gate, Idle how, Micros now) {
  if (gate->visits != 0 || gate->limit_override.get() != kNone) return false;
  if (!is_idle(*gate, how, now)) return false;
  drop_pauses(*gate, now);
  drop_idle_tiers(*gate, now);
  return gate->pauses == kNone && gate->tiers == kNone;
}

// Looks at the next place of the gate table. Whether a gate was forgotten there.
bool Shard::sweep_one(Idle how, StepContext& context) {
  const Ref ref = head_.sweep < gates_.end() ? head_.sweep : 0;
  head_.sweep = ref + 1;
  if (!gates_.live(ref)) return false;
  const At<Gate> gate = gates_.at(ref);
  settle(gate, context);
  if (collectable(gate, how, context.now)) {
    collect(gate);
    return true;
  }
  gate->swept_used = gate->last_used;
  return false;
}

void Shard::sweep(std::uint32_t places, StepContext& context) {
  const Idle how = has_many_gates() ? Idle::for_a_round : Idle::long_since;
  for (places = std::min(places, gates_.end()); places > 0 && gates_.end() > 0; --places) {
    (void)sweep_one(how, context);
  }
}

// Without memory for another gate or tier: forgets gates that hold nothing, however recently they
// were used. In portions, so that a step stays short; the next one continues. False: there is none.
bool Shard::evict(StepContext& context) {
  constexpr std::uint32_t kPlaces = 8192;
  constexpr std::uint32_t kEnough = 64;
  std::uint32_t evicted = 0;
  for (std::uint32_t places = std::min(kPlaces, gates_.end());
       places > 0 && evicted < kEnough && gates_.end() > 0; --places) {
    if (sweep_one(Idle::at_all, context)) ++evicted;
  }
  return evicted != 0;
}

void Shard::drop_pauses(Gate& gate, Micros now) {
  TraversalBudget budget;
  for (Ref* link = &gate.pauses; *link != kNone;) {
    budget.step();
    Pause& pause = pauses_[*link];
    if (pause.until.get() > now) {
      link = &pause.next;
      continue;
    }
    const Ref ended = *link;
    *link = pause.next;
    pause.state.publish(0);
    pauses_.give(ended);
  }
}

// 0 if there is none.
Micros Shard::last_pause_end(Gate& gate, Micros now) {
  drop_pauses(gate, now);
  Micros until = 0;
  TraversalBudget budget;
  for (Ref ref = gate.pauses; ref != kNone; ref = pauses_[ref].next) {
    budget.step();
    until = std::max(until, pauses_[ref].until.get());
  }
  return until;
}

}  // namespace airlock::model
