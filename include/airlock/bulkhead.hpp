#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "airlock/ask.hpp"
#include "airlock/bulkhead_base.hpp"
#include "airlock/export.hpp"
#include "airlock/lease.hpp"
#include "airlock/outcome.hpp"
#include "airlock/store.hpp"

namespace airlock {

// Runs callables inside an admission: no more than `limit` at once, in all processes together.
//
//   Bulkhead erp{store, "legacy-erp", {.limit = 10, .ttl = 10s, .max_wait = 200ms}};
//   auto rows = erp.call([&](Lease& lease) { return query(lease.fence()); });
//
// `call` and `acquire` throw BulkheadFullError; `try_call` and `try_acquire` say why instead. The
// callable's value is returned and its exception passed on. Otherwise as Airlock.
class AIRLOCK_EXPORT Bulkhead : public BulkheadBase {
 public:
  Bulkhead(std::shared_ptr<Store> store, const GateName& gate, const BulkheadOptions& options)
      : BulkheadBase(std::move(store), options), gate_(gate) {}

  [[nodiscard]] const GateName& gate() const noexcept { return gate_; }

  template <BulkheadWork Work>
  decltype(auto) call(Work&& work) const {
    return call(Ask{}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  decltype(auto) call(const Ask& ask, Work&& work) const {
    return run(gate_, acquire_at(gate_, ask), std::forward<Work>(work));
  }

  template <BulkheadWork Work>
  [[nodiscard]] auto try_call(Work&& work) const {
    return try_call(Ask{}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  [[nodiscard]] auto try_call(const Ask& ask, Work&& work) const {
    return try_call_at(gate_, ask, std::forward<Work>(work));
  }

  [[nodiscard]] Lease acquire(const Ask& ask = {}) const { return acquire_at(gate_, ask); }

  // Does not wait unless the Ask says so.
  [[nodiscard]] Outcome<Lease> try_acquire(const Ask& ask = {}) const {
    return try_enter(gate_, ask);
  }

  // As of a moment ago.
  [[nodiscard]] std::uint32_t available_slots() const {
    return available_at(std::span(&gate_, 1)).front();
  }

 private:
  GateName gate_;
};

}  // namespace airlock
