#include "airlock/seal.hpp"

#include <algorithm>
#include <utility>

#include "airlock/error.hpp"
#include "seal/steps.hpp"
#include "store/validate.hpp"

namespace airlock {
Seal::Seal(std::shared_ptr<Store> store, const GateName& gate, Terms terms)
    : store_(std::move(store)), gate_(gate), terms_(std::move(terms)) {
  // The store checks with every question; here a wrong configuration shows when the program starts.
  if (!store_) throw InvalidArgument("a seal needs a store");
  if (terms_.permits) validate_permits(*terms_.permits);
  validate_rates(terms_.rates, 1);
}

Seal::Seal(Seal base, const std::vector<Rate>& more_rates) : Seal(std::move(base)) {
  terms_.rates.insert(terms_.rates.end(), more_rates.begin(), more_rates.end());
  validate_rates(terms_.rates, 1);
}

bool Seal::is_own(const Token& token) const {
  return token.gate == gate_ && token.store == store_->id();
}

Request Seal::request(const Visitor& who, std::uint32_t cost) const {
  return {.gate = gate_,
          .visitor = who.id ? *who.id : VisitorId::random(),
          .label = who.label,
          .permits = terms_.permits,
          .rates = terms_.rates,
          .cost = cost,
          .dedupe = terms_.dedupe,
          .hold = Hold::detached};
}

void LockingSeal::release(const Token& token) const { seal::give_back(*store(), gate(), token); }

void LockingSeal::renew(Admission& held, std::optional<Duration> ttl) const {
  if (!is_own(held.token)) seal::throw_foreign_renewal(gate());
  const seal::Extension extension{&held, ttl.value_or(this->ttl())};
  seal::extend(*store(), {&extension, 1});
}

Admission LockingSeal::renew(const Token& token, std::optional<Duration> ttl) const {
  Admission held{{.token = token}};
  renew(held, ttl);
  return held;
}

bool LockingSeal::is_acquired(const Token& token) const {
  return is_own(token) && store()->holds(token);
}

bool LockingSeal::is_expired(const Admission& held) const noexcept {
  return remaining_lifetime(held) == Duration(0);
}

Duration LockingSeal::remaining_lifetime(const Admission& held) const noexcept {
  return std::max(held.deadline - store()->clock().now(), Duration(0));
}

}  // namespace airlock
