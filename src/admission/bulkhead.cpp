#include "airlock/bulkhead.hpp"

#include <algorithm>
#include <string>

#include "admission/admission_client.hpp"
#include "base/quote.hpp"

namespace airlock {
namespace {

std::string text_of(const GateName& gate, std::uint32_t limit, const Refused& refused) {
  return "gate " + base::quoted(gate.view()) + ": " + to_text(refused.reason) + ", limit " +
         std::to_string(limit) + ", waited " + to_text(refused.waited) + ", retry after " +
         to_text(refused.retry_after);
}

AirlockOptions airlock_options(const BulkheadOptions& options) {
  if (options.limit == 0) throw InvalidArgument("limit 0: 1 or more is needed");
  return {.limit = options.limit,
          .ttl = options.ttl,
          .max_wait = options.max_wait,
          .max_hold = options.max_hold,
          .rates = options.rates,
          .max_waiting = options.max_waiting,
          .outage = options.outage,
          .local_limit = options.local_limit,
          .observer = options.observer};
}

}  // namespace

BulkheadFullError::BulkheadFullError(const GateName& gate, std::uint32_t limit,
                                     const Refused& refused)
    : Error(text_of(gate, limit, refused)), gate_(gate), limit_(limit), refused_(refused) {}
BulkheadFullError::~BulkheadFullError() = default;

namespace internal {

GuardedCalls::GuardedCalls(const Store& store, const BulkheadOptions& options)
    : client_(std::make_shared<AdmissionClient>(store, airlock_options(options))) {}
GuardedCalls::GuardedCalls(const GuardedCalls&) = default;
GuardedCalls& GuardedCalls::operator=(const GuardedCalls&) = default;
GuardedCalls::~GuardedCalls() = default;

std::uint32_t GuardedCalls::limit() const noexcept { return client_->options().limit; }

Lease GuardedCalls::acquire(const GateName& gate, const Ask& ask) const {
  Outcome<Lease> lease = client_->enter(gate, ask);
  if (!lease) throw BulkheadFullError(gate, limit(), lease.error());
  return std::move(*lease);
}

Outcome<Lease> GuardedCalls::try_acquire(const GateName& gate, Duration max_wait,
                                         const Ask& ask) const {
  return client_->enter(gate, ask, max_wait);
}

std::vector<std::uint32_t> GuardedCalls::available(std::span<const GateName> gates) const {
  std::vector<std::uint32_t> available;
  for (const GateCounts& counts : client_->store()->counts(gates)) {
    const bool known = counts.limit != 0 || counts.overridden;
    const std::uint32_t most = known ? counts.limit : limit();
    available.push_back(most - std::min(most, counts.in_use));
  }
  return available;
}

void GuardedCalls::finish(const GateName& gate, Lease& lease) const noexcept {
  try {
    lease.release();
  } catch (const Error&) {
    client_->tell({.kind = Event::Kind::release_failed, .gate = gate.view()});
  }
}

}  // namespace internal

KeyedBulkhead::KeyedBulkhead(const Store& store, std::string_view prefix,
                             const BulkheadOptions& options)
    : calls_(store, options), prefix_(prefix) {
  (void)gate("");
}

std::uint32_t KeyedBulkhead::available_slots(std::string_view key) const {
  return available_slots(std::span(&key, 1)).front();
}

std::vector<std::uint32_t> KeyedBulkhead::available_slots(
    std::span<const std::string_view> keys) const {
  std::vector<GateName> gates;
  gates.reserve(keys.size());
  for (const std::string_view key : keys) gates.push_back(gate(key));
  return calls_.available(gates);
}

}  // namespace airlock
