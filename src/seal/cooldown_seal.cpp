#include "airlock/cooldown_seal.hpp"

#include <utility>

#include "seal/steps.hpp"

namespace airlock {

CooldownSeal::CooldownSeal(const Store& store, const GateName& gate, AnyDuration period)
    : GateSeal(store, gate, {.permits = Permits{.limit = 1, .ttl = period, .exclusive = true}}) {}

Outcome<Admission> CooldownSeal::try_acquire(const Visitor& who) const {
  return seal::ask(backend(), request(who), who);
}

}  // namespace airlock
