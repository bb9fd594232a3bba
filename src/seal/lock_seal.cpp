#include "airlock/lock_seal.hpp"

#include <utility>

#include "seal/steps.hpp"

namespace airlock {
namespace {

// A renewal does not say how long the other readers last; they may be gone any moment.
constexpr Duration kUnknownRetry = std::chrono::seconds(1);

// The writer has all there is.
Permits permits_of(const LockOptions& options) {
  return {
      .limit = options.readers, .weight = options.readers, .ttl = options.ttl, .exclusive = true};
}

}  // namespace

LockSeal::LockSeal(const Store& store, const GateName& gate, const LockOptions& options)
    : GateLockingSeal(store, gate, {.permits = permits_of(options), .releasable = true}) {}

Outcome<Admission> LockSeal::try_acquire_shared(const Visitor& who) const {
  Request shared = request(who);
  shared.permits->weight = 1;
  return seal::ask(backend(), shared, who);
}

Outcome<Admission> LockSeal::try_promote(const Token& token) const {
  if (!is_own(token)) seal::throw_foreign_renewal(gate());
  Admission held{{.token = token}};
  const seal::Extension extension{&held, ttl(), terms().permits->limit};
  if (!seal::extend(backend(), {&extension, 1})) return Refused{.retry_after = kUnknownRetry};
  return held;
}

Admission LockSeal::demote(const Token& token) const {
  if (!is_own(token)) seal::throw_foreign_renewal(gate());
  Admission held{{.token = token}};
  const seal::Extension extension{&held, ttl(), 1};
  seal::extend(backend(), {&extension, 1});
  return held;
}

}  // namespace airlock
