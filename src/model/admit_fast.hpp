#pragma once

#include "model/granted_answer.hpp"
#include "model/rates.hpp"
#include "model/tiers.hpp"
#include "model/visits.hpp"

// The part of Shard::admit() that is inline in the step of a store: what every question begins with, and
// all that most questions to a rate alone need.

namespace airlock::model {

inline At<Gate> Shard::open(const GateName& name, std::uint32_t hash, StepContext& context) {
  sweep_in_passing(context);
  const At<Gate> gate = open_gate(name, hash, context);
  gate->last_used = context.now;
  settle(gate, context);
  return gate;
}

// Whether one rate is all that is asked for.
[[nodiscard]] inline bool is_rate_only(const Request& request) noexcept {
  return request.rates.size() == 1 && !request.permits && request.mode == RateMode::take &&
         request.dedupe == Duration(0) && !request.line.returning;
}

// Nobody at the gate, no pause and no line: the tier alone decides.
inline bool Shard::try_take(At<Gate> gate, Payment& payment, Micros now) {
  if (gate->visits != 0 || gate->pauses != kNone) return false;
  Tier* const tier = find_tier(*gate, payment.rate());
  if (tier == nullptr || !payment.take(*tier, now)) return false;
  count_grant(gate->tallies, 0);
  return true;
}

// The answer to what was taken; needs nothing of the shard.
[[nodiscard]] inline Answer answer_to_payment(const Request& request, StoreId store,
                                              const Payment& payment) {
  return granted_answer(store, request, 0, 0, request.cost, payment.info());
}

}  // namespace airlock::model
