#include "airlock/seal.hpp"

#include <algorithm>
#include <utility>

#include "airlock/error.hpp"
#include "seal/steps.hpp"
#include "store/backend.hpp"
#include "store/validate.hpp"

namespace airlock {

// Out of line, so that every binary shares one type information.
Seal::~Seal() = default;
LockingSeal::~LockingSeal() = default;

Admission LockingSeal::renew(const Token& token, std::optional<AnyDuration> ttl) const {
  Admission held{{.token = token}};
  renew(held, ttl);
  return held;
}

// NOLINTNEXTLINE(modernize-pass-by-value): a store is taken as everywhere
GateSeal::GateSeal(const Store& store, const GateName& gate, Terms terms)
    : store_(store), gate_(gate), terms_(std::move(terms)) {
  // The store checks with every question; here a wrong configuration shows when the program starts.
  (void)backend();
  if (terms_.permits) validate_permits(*terms_.permits);
  validate_rates(terms_.rates, 1);
}

internal::Backend& GateSeal::backend() const { return *internal::backend_of(store_); }

bool GateSeal::is_own(const Token& token) const {
  return token.gate == gate_ && token.store == backend().id();
}

Request GateSeal::request(const Visitor& who, std::uint32_t cost) const {
  return {.gate = gate_,
          .visitor = who.id ? *who.id : VisitorId::random(),
          .label = who.label,
          .permits = terms_.permits,
          .rates = terms_.rates,
          .cost = cost,
          .dedupe = terms_.dedupe,
          .hold = Hold::detached};
}

Outcome<Admission> GateLockingSeal::try_acquire(const Visitor& who) const {
  return seal::ask(backend(), request(who), who);
}

void GateLockingSeal::release(const Token& token) const {
  seal::give_back(backend(), gate(), token);
}

void GateLockingSeal::renew(Admission& held, std::optional<AnyDuration> ttl) const {
  if (!is_own(held.token)) seal::throw_foreign_renewal(gate());
  const seal::Extension extension{&held, ttl.value_or(this->ttl())};
  seal::extend(backend(), {&extension, 1});
}

bool GateLockingSeal::is_acquired(const Token& token) const {
  return is_own(token) && backend().holds(token);
}

Duration GateLockingSeal::remaining_lifetime(const Admission& held) const noexcept {
  return std::max(held.deadline - backend().clock().now(), Duration(0));
}

}  // namespace airlock
