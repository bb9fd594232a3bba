#include "admission/admission_client.hpp"

#include <variant>

#include "admission/attempt.hpp"
#include "airlock/error.hpp"
#include "seal/steps.hpp"

namespace airlock::internal {
namespace {

// How long a hand-over waits to be claimed by a visitor that comes and goes.
constexpr Duration kVisitorWindow = std::chrono::seconds(10);

}  // namespace

Outcome<Lease> AdmissionClient::enter(const GateName& gate, const Ask& ask, Duration max_wait) {
  if (max_wait <= Duration(0)) return try_enter(gate, ask);
  return Attempt(*this, gate, ask, max_wait).wait();
}

Answer AdmissionClient::ask(const GateName& gate, const VisitorId& visitor, const Ask& ask,
                            AskKind kind) {
  Request request = this->request(gate, visitor, ask);
  request.hold = Hold::detached;
  request.line.join = kind == AskKind::join;
  request.line.returning = kind == AskKind::claim;
  request.line.claim_window = options().claim_window.value_or(kVisitorWindow);
  if (options().refuse_late) request.line.max_eta = options().max_wait;
  try {
    return store()->admit(request);
  } catch (const StoreError& error) {
    tell({.kind = Event::Kind::failed, .gate = gate.view()});
    seal::throw_not_asked(gate, error);
  }
}

// It is not told who waits: nobody knows here whether that is new.
Answer AdmissionClient::admit(const GateName& gate, const VisitorId& visitor, const Ask& ask,
                              AskKind kind) {
  if (keeper().is_closing()) throw_closed(gate);
  const Answer answer = this->ask(gate, visitor, ask, kind);
  if (const auto* granted = std::get_if<Granted>(&answer); granted && !granted->repeated) {
    tell({.kind = Event::Kind::granted, .gate = gate.view()});
  }
  if (const auto* refused = std::get_if<Refused>(&answer)) {
    tell({.kind = Event::Kind::refused, .gate = gate.view(), .reason = refused->reason});
  }
  return answer;
}

}  // namespace airlock::internal
