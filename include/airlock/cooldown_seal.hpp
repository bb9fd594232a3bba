#pragma once

#include <memory>
#include <string_view>

#include "airlock/export.hpp"
#include "airlock/seal.hpp"

namespace airlock {

// Once per period, whoever asks. Nobody can end the period early, so it is neither released nor
// renewed.
//
//   CooldownSeal resend(store, gate_name("resend-code", user), 30s);
//   if (auto go = resend.try_acquire()) send_code(user);
//   else say_wait(go.error().retry_after);  // What is left of the period.
//
// Every call is a new visitor: being granted twice would be doing it twice. The key of what cools
// down belongs into the name of the gate.
class AIRLOCK_EXPORT CooldownSeal : public Seal {
 public:
  CooldownSeal(std::shared_ptr<Store> store, const GateName& gate, Duration period);

  [[nodiscard]] Outcome<Granted> try_acquire(std::string_view label = {}) const;
};

}  // namespace airlock
