#include "model/visits.hpp"

namespace airlock::model {

At<Visit> Shard::find_visit(std::string_view gate, std::uint32_t hash,
                            const VisitorId& visitor) const {
  const At<Gate> found = find_gate(gate, hash);
  return found ? find(found.ref, visitor) : At<Visit>();
}

// Makes everything that runs beside the visits as long as they are; the places last, so that they
// tell. False: no room.
bool Shard::match_extents() {
  return visit_index_.reserve() && deadlines_.resize(visits_.extents()) &&
         places_.resize(visits_.extents());
}

void Shard::move(At<Gate> gate, At<Visit> visit, VisitState to) {
  detach(gate, visit);
  visit->called_until = 0;
  visit->publish(to, visit->stamp());
  attach(gate, visit);
}

// What an unclaimed hand-over took is given back.
void Shard::remove_with_refund(At<Gate> gate, At<Visit> visit, Micros now) {
  const Taken taken = taken_by(*visit);
  remove(gate, visit);
  give_back_all(*gate, taken, now);
}

// Changes when a visit inside ends.
void Shard::set_expiry(At<Gate> gate, At<Visit> visit, Micros expiry) {
  by_deadline().erase(gate->inside, visit.ref);
  visit->expiry.set(expiry);
  insert_by_deadline(gate->inside, visit);
  gate->next_due = std::min(gate->next_due, expiry);
}

// A hand-over becomes an admission. The state comes first: until then the claim window holds.
void Shard::claim(At<Gate> gate, At<Visit> visit, Owner owner, Hold hold, StepContext& context) {
  count_grant(gate->tallies, context.now - visit->joined);
  if (visit->weight.get() == 0) {
    if (visit->dedupe == 0) return remove(gate, visit);
    move(gate, visit, VisitState::spent);
    return set_expiry(gate, visit, context.now + visit->dedupe);
  }
  set_owner(visit, hold, owner);
  visit->granted_at.set(context.now);
  visit->publish(VisitState::holding, visit->stamp());
  const Micros full = context.now + visit->ttl;
  set_expiry(gate, visit, visit->revoked.get() != 0 ? std::min(full, visit->revoked.get()) : full);
  const Ref requested_rates = visit->requested_rates.get();
  visit->requested_rates.publish(kNone);
  drop_wishes(requested_rates);
}

void Shard::revoke_one(At<Gate> gate, At<Visit> visit, Revoke how, Micros now) {
  if (how == Revoke::now) {
    bump(gate->tallies.revoked);
    return remove_with_refund(gate, visit, now);
  }
  // A holder renews at a third of its ttl, so it has heard of this by then.
  constexpr Micros kMargin = 100'000;
  const Micros end = now + visit->ttl / 3 + kMargin;
  if (visit->revoked.get() == 0 || end < visit->revoked.get()) visit->revoked.set(end);
  if (end < visit->expiry.get()) set_expiry(gate, visit, end);
  listener_.changed(visit.ref, *visit);
}

}  // namespace airlock::model
