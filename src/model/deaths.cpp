#include <array>

#include "model/tiers.hpp"
#include "model/visits.hpp"

// What the death of a process means for the rules.

namespace airlock::model {

// Names the processes that hold something at a gate without room: their death would make some. A
// few at a time, going round, so that a gate with many holders costs no more than one with few.
void Shard::suspect_holders(At<Gate> gate, Listener::After after) {
  constexpr std::uint32_t kMost = 128;
  if (gate->holders == 0 || !listener_.wants_suspects(after, gate->last_look)) return;
  Ref at = gate->look_from;
  const bool is_inside =
      at != kNone && visits_.live(at) && visits_[at].gate == gate.ref && !visits_[at].in_line();
  if (!is_inside) at = gate->inside.first;
  for (std::uint32_t left = std::min(gate->holders, kMost); left > 0 && at != kNone; --left) {
    const Visit& visit = visits_[at];
    if (visit.hold.get() == Hold::bound && !listener_.suspect(visit.owner.get())) break;
    at = by_deadline().next(at);
    if (at == kNone) at = gate->inside.first;
  }
  gate->look_from = at;
}

void Shard::end_bound(At<Visit> visit, Micros now) {
  const At<Gate> gate = gates_.at(visit->gate);
  if (visit->inside()) bump(gate->tallies.died);
  if (visit->in_line()) bump(gate->tallies.abandoned);
  remove_with_refund(gate, visit, now);
}

// First everything that ends, then whom that lets in: nobody is handed what a dead waiter would
// have. In portions, because to let somebody in may change the list.
void Shard::end_predecessors(Owner present, StepContext& context) {
  const std::uint32_t number = number_of(present);
  constexpr std::size_t kPortion = 64;
  std::array<Ref, kPortion> touched;
  std::size_t count = kPortion;
  while (count == kPortion && owners_.has(number)) {
    count = 0;
    TraversalBudget budget(visits_.end() + TraversalBudget::kLong);
    for (Ref at = owners_.first(number); at != kNone && count < kPortion;) {
      budget.step();
      const At<Visit> visit = visits_.at(at);
      at = visit->owner_next;
      if (visit->owner.get() == present) continue;
      touched[count++] = visit->gate;
      end_bound(visit, context.now);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (gates_.live(touched[i])) settle(gates_.at(touched[i]), context);
    }
  }
}

void Shard::end_all_dead(StepContext& context) {
  visits_.for_each([&](Ref ref) {
    const At<Visit> visit = visits_.at(ref);
    const Owner owner = visit->owner.get();
    if (visit->hold.get() != Hold::bound || owner == 0 || !listener_.is_dead(owner)) return;
    end_bound(visit, context.now);
  });
  gates_.for_each([&](Ref gate) { settle(gates_.at(gate), context); });
}

}  // namespace airlock::model
