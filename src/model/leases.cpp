#include <algorithm>

#include "model/tiers.hpp"
#include "model/visits.hpp"

namespace airlock::model {

[[gnu::flatten]] bool Shard::release(const Token& token, std::uint32_t hash, StepContext& context) {
  const At<Gate> gate = find_gate(token.gate.view(), hash);
  const At<Visit> visit = holder_of(gate, token, context);
  if (visit) end_hold(gate, visit, context);
  return static_cast<bool>(visit);
}

// Stamps are never used twice in a shard, so the record at the place is the token's or has another.
// What was handed over and not claimed is not for here: its refund needs the exact time.
[[gnu::flatten]] bool Shard::release_at(const Token& token, StepContext& context) {
  const auto ref = static_cast<Ref>(token.place);
  if (token.fence == 0 || !visits_.has(ref)) return false;
  const At<Visit> visit = visits_.at(ref);
  deadlines_.prefetch(ref);
  const auto is_meant = [&] {
    return visit->fence() == token.fence && visit->state() == VisitState::holding &&
           visit->visitor == token.visitor;
  };
  if (!is_meant()) return false;
  visit_index_.prefetch(visit->hash);
  const At<Gate> gate = gates_.at(visit->gate);
  if (gate->view() != token.gate.view()) return false;
  gate->last_used = context.now;
  if (context.now >= gate->next_due) {
    settle(gate, context);
    if (!is_meant()) return false;
  }
  end_hold(gate, visit, context);
  return true;
}

inline void Shard::end_hold(At<Gate> gate, At<Visit> visit, StepContext& context) {
  if (visit->revoked.get() != 0) bump(gate->tallies.revoked);
  if (visit->state() == VisitState::handed) {
    remove_with_refund(gate, visit, context.now);
  } else {
    remove(gate, visit);
  }
  if (!gate->line.is_empty()) advance(gate, context);
  sweep_in_passing(context);
}

bool Shard::leave(std::string_view name, std::uint32_t hash, const VisitorId& visitor,
                  StepContext& context) {
  const At<Gate> gate = find_gate(name, hash);
  if (!gate) return false;
  gate->last_used = context.now;
  settle(gate, context);
  const At<Visit> visit = find(gate.ref, visitor);
  const bool waits = visit && (visit->in_line() || visit->state() == VisitState::handed);
  if (waits) {
    bump(gate->tallies.abandoned);
    remove_with_refund(gate, visit, context.now);
    if (!gate->line.is_empty()) advance(gate, context);
  }
  sweep_in_passing(context);
  return waits;
}

bool Shard::mark_absent(std::string_view name, std::uint32_t hash, const VisitorId& visitor,
                        StepContext& context) {
  const At<Gate> gate = find_gate(name, hash);
  if (!gate) return false;
  gate->last_used = context.now;
  settle(gate, context);
  const At<Visit> visit = find(gate.ref, visitor);
  const bool is_handed = visit && visit->state() == VisitState::handed;
  const bool has_place = is_handed || (visit && visit->in_line());
  if (has_place && visit->state() != VisitState::absent) {
    is_handed ? miss_turn(gate, visit, context.now) : pass_over(gate, visit, context.now);
    if (!gate->line.is_empty()) advance(gate, context);
  }
  sweep_in_passing(context);
  return has_place;
}

void Shard::refund(const Request& request, std::uint32_t hash, StepContext& context) {
  const At<Gate> gate = find_gate(request.gate.view(), hash);
  if (!gate) return;
  for (const Rate& rate : request.rates) {
    Tier* tier = find_tier(*gate, rate);
    if (tier != nullptr) give_back(*tier, request.cost, context.now);
  }
  settle(gate, context);
  sweep_in_passing(context);
}

void Shard::renew(RenewItem& item, std::uint32_t hash, StepContext& context) {
  const At<Gate> gate = find_gate(item.token.gate.view(), hash);
  const At<Visit> visit = holder_of(gate, item.token, context);
  item.result = Renewal::gone;
  if (!visit || visit->state() != VisitState::holding) return;
  item.result = Renewal::revoked;
  if (visit->revoked.get() != 0) return;
  item.result = Renewal::no_room;
  if (item.weight && !change_weight(gate, visit, *item.weight)) return;
  item.result = Renewal::renewed;
  visit->ttl = item.ttl.count();
  set_expiry(gate, visit, context.now + visit->ttl);
  if (!gate->line.is_empty()) advance(gate, context);
  sweep_in_passing(context);
}

// In one store, so that a death leaves the old weight or the new one.
bool Shard::change_weight(At<Gate> gate, At<Visit> visit, std::uint32_t weight) {
  const std::uint32_t old = visit->weight.get();
  if (weight == old) return true;
  gate->in_use -= old;
  const bool room = weight <= visit->limit.get() && slots_.reserve(*gate) &&
                    (weight < old || fits(*gate, visit->limit.get(), visit->exclusive, weight));
  gate->in_use += old;
  if (!room) return false;
  detach(gate, visit);
  visit->weight.publish(weight);
  give_slot(*gate, *visit);
  attach(gate, visit);
  return true;
}

bool Shard::disown(const Token& token, std::uint32_t hash, StepContext& context) {
  const At<Visit> visit = holder_of(find_gate(token.gate.view(), hash), token, context);
  if (!visit) return false;
  set_owner(visit, Hold::detached, 0);
  return true;
}

std::optional<Granted> Shard::adopt(const Token& token, std::uint32_t hash, Owner owner,
                                    StepContext& context) {
  const At<Visit> visit = holder_of(find_gate(token.gate.view(), hash), token, context);
  if (!visit || visit->state() != VisitState::holding) return std::nullopt;
  set_owner(visit, Hold::bound, owner);
  Granted answer = granted(token.gate, visit, context.now);
  answer.repeated = true;
  return answer;
}

bool Shard::holds(const Token& token, std::uint32_t hash, StepContext& context) {
  const At<Gate> gate = find_gate(token.gate.view(), hash);
  if (!gate) return false;
  if (context.now >= gate->next_due) settle(gate, context);
  const At<Visit> visit = find(gate.ref, token.visitor);
  if (!visit || !visit->held() || token.fence == 0 || visit->fence() != token.fence) return false;
  if (visit->hold.get() == Hold::bound) (void)listener_.suspect(visit->owner.get());
  return true;
}

// Alone the place is compared and the stamp: the token has its place from the store itself.
std::optional<Ref> Shard::release_lockfree(const Token& token, Micros now) {
  const auto ref = static_cast<Ref>(token.place);
  if (token.fence == 0 || !visits_.has(ref)) return std::nullopt;
  Visit& visit = visits_[ref];
  const auto word = [&](VisitState state) {
    return token.fence << 4 | static_cast<std::uint64_t>(state);
  };
  if (visit.word.get() != word(VisitState::holding) || visit.expiry.get() <= now) {
    return std::nullopt;
  }
  if (!visit.word.replace(word(VisitState::holding), word(VisitState::returning))) {
    return std::nullopt;
  }
  return ref;
}

void Shard::apply_release(Ref returning, StepContext& context) {
  if (!visits_.has(returning)) return;
  const At<Visit> visit = visits_.at(returning);
  if (visit->state() != VisitState::returning) return;
  const At<Gate> gate = gates_.at(visit->gate);
  gate->last_used = context.now;
  end_hold(gate, visit, context);
}

void Shard::fold_all(StepContext& context) {
  visits_.for_each([&](Ref ref) { apply_release(ref, context); });
}

}  // namespace airlock::model
