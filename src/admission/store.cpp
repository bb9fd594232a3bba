#include "airlock/store.hpp"

#include <utility>

#include "admission/keeper.hpp"
#include "store/backend.hpp"

namespace airlock {

using internal::backend_of;
using internal::Keeper;

void internal::Handle::throw_empty() {
  throw InvalidArgument("the store is empty: open_store() opens one");
}

Store::Store(std::shared_ptr<internal::Backend> backend) noexcept
    : backend_(Keeper::pin(std::move(backend))) {}

StoreId Store::id() const { return backend_of(*this)->id(); }

Answer Store::admit(const Request& request) const { return backend_of(*this)->admit(request); }

GroupAnswer Store::admit_all(std::span<const Request> requests) const {
  return backend_of(*this)->admit_all(requests);
}

void Store::admit_each(std::span<AdmitItem> items) const { backend_of(*this)->admit_each(items); }

bool Store::leave(const GateName& gate, const VisitorId& visitor) const {
  return backend_of(*this)->leave(gate, visitor);
}

bool Store::mark_absent(const GateName& gate, const VisitorId& visitor) const {
  return backend_of(*this)->mark_absent(gate, visitor);
}

void Store::refund(const Request& request) const { backend_of(*this)->refund(request); }

void Store::renew(std::span<RenewItem> items) const { backend_of(*this)->renew(items); }

Renewal Store::renew(const Token& token, Duration ttl) const {
  RenewItem item{.token = token, .ttl = ttl};
  renew({&item, 1});
  return item.result;
}

bool Store::release(const Token& token) const { return backend_of(*this)->release(token); }

bool Store::disown(const Token& token) const { return backend_of(*this)->disown(token); }

std::optional<Granted> Store::adopt(const Token& token) const {
  return backend_of(*this)->adopt(token);
}

bool Store::holds(const Token& token) const { return backend_of(*this)->holds(token); }

bool Store::watch(const GateName& gate, const VisitorId& visitor,
                  std::function<void()> changed) const {
  return backend_of(*this)->watch(gate, visitor, std::move(changed));
}

void Store::unwatch(const GateName& gate, const VisitorId& visitor) const {
  backend_of(*this)->unwatch(gate, visitor);
}

std::optional<GateView> Store::look(const GateName& gate) const {
  return backend_of(*this)->look(gate);
}

std::vector<GateCounts> Store::counts(std::span<const GateName> gates) const {
  return backend_of(*this)->counts(gates);
}

std::vector<std::string> Store::list() const { return backend_of(*this)->list(); }

std::vector<GateSummary> Store::survey(
    const std::function<bool(std::string_view gate)>& include) const {
  return backend_of(*this)->survey(include);
}

std::vector<GateSummary> Store::survey() const {
  return survey([](std::string_view /*gate*/) { return true; });
}

void Store::set_limit(const GateName& gate, std::optional<std::uint32_t> limit) const {
  backend_of(*this)->set_limit(gate, limit);
}

void Store::pause(const GateName& gate, Duration duration, std::string_view reporter) const {
  backend_of(*this)->pause(gate, duration, reporter);
}

bool Store::resume(const GateName& gate, std::string_view reporter) const {
  return backend_of(*this)->resume(gate, reporter);
}

std::size_t Store::revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                          Revoke how) const {
  return backend_of(*this)->revoke(gate, visitor, how);
}

bool Store::purge(const GateName& gate) const { return backend_of(*this)->purge(gate); }

void Store::collect() const { backend_of(*this)->collect(); }

std::vector<Finding> Store::examine() const { return backend_of(*this)->examine(); }

void Store::close() const { Keeper::close(backend_of(*this)); }

bool Store::drain(Duration at_most) const { return Keeper::of(backend_of(*this))->drain(at_most); }

bool Store::flush(Duration at_most) const { return Keeper::of(backend_of(*this))->flush(at_most); }

}  // namespace airlock
