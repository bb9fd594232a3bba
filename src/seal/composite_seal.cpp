#include "airlock/composite_seal.hpp"

#include <array>

#include "airlock/error.hpp"
#include "seal/steps.hpp"

namespace airlock {

CompositeSeal::CompositeSeal(std::shared_ptr<const LockingSeal> lock,
                             std::shared_ptr<const Seal> other)
    : lock_(std::move(lock)),
      other_(std::move(other)),
      lock_gate_(gate_of(*lock_)),
      other_gate_(gate_of(*other_)),
      rates_(dynamic_cast<const RateLimiterSeal*>(other_.get())),
      way_(find_way()) {
  if (dynamic_cast<const LockingSeal*>(other_.get()) != nullptr) {
    throw InvalidArgument("a composite seal has one lock; GroupSeal and ChainedSeal have several");
  }
  if (way_ != Way::one_gate) return;
  GateSeal::Terms terms = lock_gate_->terms();
  const std::vector<Rate>& more = other_gate_->terms().rates;
  terms.rates.insert(terms.rates.end(), more.begin(), more.end());
  combined_ = GateSeal(lock_gate_->store(), lock_gate_->gate(), std::move(terms));
}

const GateSeal* CompositeSeal::gate_of(const Seal& seal) noexcept {
  if (const auto* composite = dynamic_cast<const CompositeSeal*>(&seal)) {
    return composite->combined_ ? &*composite->combined_ : nullptr;
  }
  return dynamic_cast<const GateSeal*>(&seal);
}

RateLimiterSeal CompositeSeal::tiers_at(const Seal& lock, const std::vector<Rate>& rates) {
  const GateSeal* const gate = gate_of(lock);
  if (gate == nullptr)
    throw InvalidArgument("rates need a lock of one gate; use a RateLimiterSeal");
  return {gate->store(), gate->gate(), rates};
}

CompositeSeal::operator GateSeal() const {
  if (!combined_) throw InvalidArgument("a part needs seals of one gate");
  return *combined_;
}

CompositeSeal::Way CompositeSeal::find_way() const {
  if (lock_gate_ == nullptr || other_gate_ == nullptr) return Way::chained;
  if (lock_gate_->store() != other_gate_->store()) return Way::chained;
  if (lock_gate_->gate() == other_gate_->gate()) {
    if (other_gate_->terms().permits) {
      // The second question would find the visitor inside and ask for nothing more.
      throw InvalidArgument("gate " + lock_gate_->gate().text() +
                            ": a lock and a cooldown cannot share a gate");
    }
    if (other_gate_->terms().dedupe == Duration(0)) return Way::one_gate;
    throw InvalidArgument(
        "gate " + lock_gate_->gate().text() +
        ": a limiter with dedupe cannot share the gate of the lock; give it its own");
  }
  const bool one_group = lock_gate_->gate().group() == other_gate_->gate().group() &&
                         other_gate_->terms().dedupe == Duration(0);
  return one_group ? Way::one_group : Way::chained;
}

void CompositeSeal::check_atomic() const {
  if (is_atomic()) return;
  throw InvalidArgument(
      "these seals are not decided in one step: that needs one store and one group, and no dedupe");
}

Outcome<Admission> CompositeSeal::try_acquire(std::uint32_t cost, const Visitor& who) const {
  if (cost != 1 && rates_ == nullptr) {
    throw InvalidArgument("cost " + std::to_string(cost) + ": only a rate limiter takes one");
  }
  if (way_ == Way::one_gate) {
    return seal::ask(combined_->backend(), combined_->request(who, cost), who);
  }
  if (way_ == Way::one_group) return acquire_in_one_group(cost, who);
  return acquire_in_turn(cost, who);
}

Outcome<Admission> CompositeSeal::acquire_in_one_group(std::uint32_t cost,
                                                       const Visitor& who) const {
  const Visitor one = seal::with_id(who);
  const std::array<Request, 2> requests = {lock_gate_->request(one, cost),
                                           other_gate_->request(one, cost)};
  Outcome<std::vector<Admission>> held = seal::ask_all(lock_gate_->backend(), requests, who);
  if (!held) return held.error();
  return seal::with_rate_of(held->front(), held->back());
}

Outcome<Admission> CompositeSeal::acquire_in_turn(std::uint32_t cost, const Visitor& who) const {
  const Visitor one = seal::with_id(who);
  Outcome<Admission> held = lock_->try_acquire(one);
  if (!held) return held;
  const auto give_back = [&] {
    if (!held->repeated) lock_->release(held->token);  // Else an earlier call answers for it.
  };
  Outcome<Admission> other = Refused{};
  try {
    other = rates_ != nullptr ? rates_->try_acquire(cost, one) : other_->try_acquire(one);
  } catch (...) {
    try {
      give_back();
    } catch (
        const Error&) {  // NOLINT(bugprone-empty-catch): the failure at hand is the one to tell
    }
    throw;
  }
  if (other) return seal::with_rate_of(*held, *other);
  try {
    give_back();
  } catch (const SealReleasingError& error) {
    seal::throw_not_undone(held->token.gate, error);
  }
  Refused refused = other.error();
  refused.at = 1;
  return refused;
}

}  // namespace airlock
