#pragma once

#include <memory>

#include "airlock/seal.hpp"
#include "airlock/version.hpp"

namespace airlock {

// Once per period, whoever asks. Nobody can end the period early, so it is neither released nor
// renewed.
//
//   CooldownSeal resend(store, gate_name("resend-code", user), 30s);
//   if (auto go = resend.try_acquire()) send_code(user);
//   else say_wait(go.error().retry_after);  // What is left of the period.
//
// The key of what cools down belongs into the name of the gate. A visitor with an id that asks again
// within the period finds its first answer, `repeated`: do it once.
class AIRLOCK_EXPORT CooldownSeal : public Seal, public GateSeal {
 public:
  CooldownSeal(const Store& store, const GateName& gate, AnyDuration period);

  using Seal::try_acquire;
  [[nodiscard]] Outcome<Admission> try_acquire(const Visitor& who) const override;
};

}  // namespace airlock
