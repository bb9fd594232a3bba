#pragma once

#include "admission/admission_context.hpp"

namespace airlock::internal {

// How airlocks, bulkheads and locks get their leases, at any gate of their store.
class AdmissionClient : public AdmissionContext {
 public:
  using AdmissionContext::AdmissionContext;

  // Throws as Airlock says.
  [[nodiscard]] Outcome<Lease> enter(const GateName& gate, const Ask& ask, Duration max_wait);
  [[nodiscard]] Outcome<Lease> enter(const GateName& gate, const Ask& ask) {
    return enter(gate, ask, options().max_wait);
  }

  // One question for a visitor who has an id instead of a thread.
  enum class AskKind { join, claim };
  [[nodiscard]] Answer admit(const GateName& gate, const VisitorId& visitor, const Ask& ask,
                             AskKind kind);

 private:
  [[nodiscard]] Answer ask(const GateName& gate, const VisitorId& visitor, const Ask& ask,
                           AskKind kind);
};

}  // namespace airlock::internal
