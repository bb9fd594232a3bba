#include "airlock/cooldown_seal.hpp"

#include <utility>

#include "seal/steps.hpp"

namespace airlock {

CooldownSeal::CooldownSeal(std::shared_ptr<Store> store, const GateName& gate, Duration period)
    : Seal(std::move(store), gate,
           {.permits = Permits{.limit = 1, .ttl = period, .exclusive = true}}) {}

Outcome<Granted> CooldownSeal::try_acquire(std::string_view label) const {
  const Outcome<Admission> answer = seal::ask(*store(), request({.label = label}), {});
  if (!answer) return answer.error();
  return Granted(*answer);
}

}  // namespace airlock
