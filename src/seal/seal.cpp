#include "airlock/seal.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "airlock/error.hpp"
#include "base/rate_check.hpp"
#include "seal/steps.hpp"

namespace airlock {
namespace {

[[noreturn]] void fail(const std::string& text) { throw InvalidArgument(text); }

// The store checks with every question; here a wrong configuration shows when the program starts.
void check(const Permits& permits) {
  const auto& [limit, weight, ttl, exclusive] = permits;
  if (limit == 0 || limit > kMaxLimit) {
    fail("limit " + std::to_string(limit) + ": 1 to " + std::to_string(kMaxLimit) + " is needed");
  }
  if (weight == 0 || weight > limit) {
    fail("weight " + std::to_string(weight) + ": 1 to the limit, " + std::to_string(limit));
  }
  if (ttl <= Duration(0) || ttl > kMaxTtl) {
    fail("ttl " + to_text(ttl) + ": above 0 and at most " + to_text(kMaxTtl) + " is needed");
  }
}

void check(const std::vector<Rate>& rates) {
  if (rates.size() > kMaxRates) fail(std::to_string(rates.size()) + " rates: at most 8 tiers");
  for (const Rate& rate : rates) base::check_rate(rate);
}

}  // namespace

Seal::Seal(std::shared_ptr<Store> store, const GateName& gate, Terms terms)
    : store_(std::move(store)), gate_(gate), terms_(std::move(terms)) {
  if (!store_) fail("a seal needs a store");
  if (terms_.permits) check(*terms_.permits);
  check(terms_.rates);
}

Seal::Seal(Seal base, const std::vector<Rate>& more_rates) : Seal(std::move(base)) {
  terms_.rates.insert(terms_.rates.end(), more_rates.begin(), more_rates.end());
  check(terms_.rates);
}

bool Seal::is_own(const Token& token) const {
  return token.gate == gate_ && token.store == store_->id();
}

Request Seal::request(const Visitor& who, std::uint32_t cost) const {
  return {.gate = gate_,
          .visitor = who.id,
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
  return is_own(token) && seal::is_live(*store(), token);
}

bool LockingSeal::is_expired(const Admission& held) const noexcept {
  return remaining_lifetime(held) == Duration(0);
}

Duration LockingSeal::remaining_lifetime(const Admission& held) const noexcept {
  return std::max(held.deadline - store()->clock().now(), Duration(0));
}

}  // namespace airlock
