#include "airlock/bulkhead_base.hpp"

#include <algorithm>
#include <string>

#include "airlock/entrance.hpp"
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
          .rates = options.rates,
          .max_wait = options.max_wait,
          .max_hold = options.max_hold,
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

BulkheadBase::BulkheadBase(std::shared_ptr<Store> store, const BulkheadOptions& options)
    : entrance_(std::make_shared<keeping::Entrance>(std::move(store), airlock_options(options))) {}
BulkheadBase::BulkheadBase(const BulkheadBase&) = default;
BulkheadBase& BulkheadBase::operator=(const BulkheadBase&) = default;
BulkheadBase::~BulkheadBase() = default;

std::uint32_t BulkheadBase::limit() const noexcept { return entrance_->options().limit; }

Outcome<Lease> BulkheadBase::enter(const GateName& gate, const Ask& ask) const {
  return entrance_->enter(gate, ask);
}

Outcome<Lease> BulkheadBase::try_enter(const GateName& gate, Ask ask) const {
  ask.max_wait = ask.max_wait.value_or(Duration(0));
  return entrance_->enter(gate, ask);
}

Lease BulkheadBase::acquire_at(const GateName& gate, const Ask& ask) const {
  Outcome<Lease> lease = entrance_->enter(gate, ask);
  if (!lease) throw BulkheadFullError(gate, limit(), lease.error());
  return std::move(*lease);
}

std::vector<std::uint32_t> BulkheadBase::available_at(std::span<const GateName> gates) const {
  std::vector<std::uint32_t> available;
  for (const GateCounts& counts : entrance_->store()->counts(gates)) {
    const bool known = counts.limit != 0 || counts.overridden;
    const std::uint32_t most = known ? counts.limit : limit();
    available.push_back(most - std::min(most, counts.in_use));
  }
  return available;
}

void BulkheadBase::finish(const GateName& gate, Lease& lease) const noexcept {
  try {
    lease.release();
  } catch (const Error&) {
    entrance_->tell({.kind = Event::Kind::release_failed, .gate = gate.view()});
  }
}

}  // namespace airlock
