#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "airlock/ask.hpp"
#include "airlock/error.hpp"
#include "airlock/lease.hpp"
#include "airlock/observer.hpp"
#include "airlock/outage.hpp"
#include "airlock/outcome.hpp"
#include "airlock/rate.hpp"
#include "airlock/store.hpp"
#include "airlock/version.hpp"

namespace airlock {

// Refused: the dependency has all it tolerates. `retry_after` says when to come back.
class AIRLOCK_EXPORT BulkheadFullError : public Error {
 public:
  BulkheadFullError(const GateName& gate, std::uint32_t limit, const Refused& refused);
  ~BulkheadFullError() override;

  [[nodiscard]] const GateName& gate() const noexcept { return gate_; }
  [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }
  [[nodiscard]] Reason reason() const noexcept { return refused_.reason; }
  [[nodiscard]] Duration waited() const noexcept { return refused_.waited; }
  [[nodiscard]] Duration retry_after() const noexcept { return refused_.retry_after; }

 private:
  GateName gate_;
  std::uint32_t limit_;
  Refused refused_;
};

struct BulkheadOptions {
  std::uint32_t limit = 0;  // What the dependency tolerates, all processes together. No default.
  AnyDuration ttl = std::chrono::seconds(30);  // A crashed holder's slot is back after this.
  AnyDuration max_wait = Duration(0);          // 0: refuse at once instead of joining the line.
  AnyDuration max_hold = kForever;  // A hung callable keeps its slot no longer than this.
  std::vector<Rate> rates = {};     // Beside the limit: what the dependency takes per time.
  std::uint32_t max_waiting = 0;    // A longer line refuses. 0: no bound.
  Outage outage = Outage::closed;
  std::uint32_t local_limit = 1;  // Outage::local.
  AnyObserver observer = {};
};

// A callable of a bulkhead: it may want to know its lease.
template <typename Work>
concept BulkheadWork = std::invocable<Work, Lease&> || std::invocable<Work>;

namespace internal {

class AdmissionClient;

// Calls it one way or the other.
template <BulkheadWork Work>
decltype(auto) invoke_inside(Work&& work, Lease& lease) {
  if constexpr (std::invocable<Work, Lease&>) {
    return std::invoke(std::forward<Work>(work), lease);
  } else {
    return std::invoke(std::forward<Work>(work));
  }
}
template <BulkheadWork Work>
using ResultOf = decltype(invoke_inside(std::declval<Work>(), std::declval<Lease&>()));

// Callables inside an admission of any gate, by the same rules.
class AIRLOCK_EXPORT GuardedCalls {
 public:
  GuardedCalls(const Store& store, const BulkheadOptions& options);
  GuardedCalls(const GuardedCalls&);
  GuardedCalls& operator=(const GuardedCalls&);
  ~GuardedCalls();

  [[nodiscard]] std::uint32_t limit() const noexcept;
  [[nodiscard]] std::vector<std::uint32_t> available(std::span<const GateName> gates) const;

  [[nodiscard]] Lease acquire(const GateName& gate, const Ask& ask) const;
  [[nodiscard]] Outcome<Lease> try_acquire(const GateName& gate, Duration max_wait,
                                           const Ask& ask) const;

  template <BulkheadWork Work>
  ResultOf<Work> call(const GateName& gate, const Ask& ask, Work&& work) const {
    return run(gate, acquire(gate, ask), std::forward<Work>(work));
  }

  template <BulkheadWork Work>
  [[nodiscard]] Outcome<ResultOf<Work>> try_call(const GateName& gate, Duration max_wait,
                                                 const Ask& ask, Work&& work) const {
    Outcome<Lease> lease = try_acquire(gate, max_wait, ask);
    if (!lease) return lease.error();
    if constexpr (std::is_void_v<ResultOf<Work>>) {
      run(gate, std::move(*lease), std::forward<Work>(work));
      return {};
    } else {
      return run(gate, std::move(*lease), std::forward<Work>(work));
    }
  }

 private:
  struct Finish {
    const GuardedCalls& calls;
    const GateName& gate;
    Lease& lease;
    ~Finish() { calls.finish(gate, lease); }
  };

  // The lease is renewed while the callable runs and given back when it returns or throws. If
  // giving back fails, the value or the exception is kept and the observer told.
  template <BulkheadWork Work>
  ResultOf<Work> run(const GateName& gate, Lease lease, Work&& work) const {
    const Finish finish{*this, gate, lease};
    return invoke_inside(std::forward<Work>(work), lease);
  }
  void finish(const GateName& gate, Lease& lease) const noexcept;

  std::shared_ptr<AdmissionClient> client_;
};

}  // namespace internal

// Runs callables inside an admission: no more than `limit` at once, in all processes together.
//
//   Bulkhead erp{store, "legacy-erp", {.limit = 10, .ttl = 10s, .max_wait = 200ms}};
//   auto rows = erp.call([&](Lease& lease) { return query(lease.fence()); });
//
// `call` and `acquire` wait for `max_wait` and throw BulkheadFullError. `try_call` and `try_acquire`
// do not wait, and with `_for` wait at most so long (0 or less: not at all); they say why instead.
// The callable's value is returned and its exception passed on. Otherwise as Airlock.
class AIRLOCK_EXPORT Bulkhead {
 public:
  Bulkhead(const Store& store, const GateName& gate, const BulkheadOptions& options)
      : calls_(store, options), gate_(gate) {}

  [[nodiscard]] const GateName& gate() const noexcept { return gate_; }
  [[nodiscard]] std::uint32_t limit() const noexcept { return calls_.limit(); }

  template <BulkheadWork Work>
  decltype(auto) call(Work&& work) const {
    return calls_.call(gate_, {}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  decltype(auto) call(const Ask& ask, Work&& work) const {
    return calls_.call(gate_, ask, std::forward<Work>(work));
  }

  template <BulkheadWork Work>
  [[nodiscard]] auto try_call(Work&& work) const {
    return calls_.try_call(gate_, Duration(0), {}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  [[nodiscard]] auto try_call(const Ask& ask, Work&& work) const {
    return calls_.try_call(gate_, Duration(0), ask, std::forward<Work>(work));
  }

  template <BulkheadWork Work>
  [[nodiscard]] auto try_call_for(AnyDuration max_wait, Work&& work) const {
    return calls_.try_call(gate_, max_wait, {}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  [[nodiscard]] auto try_call_for(AnyDuration max_wait, const Ask& ask, Work&& work) const {
    return calls_.try_call(gate_, max_wait, ask, std::forward<Work>(work));
  }

  [[nodiscard]] Lease acquire(const Ask& ask = {}) const { return calls_.acquire(gate_, ask); }
  [[nodiscard]] Outcome<Lease> try_acquire(const Ask& ask = {}) const {
    return calls_.try_acquire(gate_, Duration(0), ask);
  }
  [[nodiscard]] Outcome<Lease> try_acquire_for(AnyDuration max_wait, const Ask& ask = {}) const {
    return calls_.try_acquire(gate_, max_wait, ask);
  }

  // As of a moment ago.
  [[nodiscard]] std::uint32_t available_slots() const {
    return calls_.available(std::span(&gate_, 1)).front();
  }

 private:
  internal::GuardedCalls calls_;
  GateName gate_;
};

// A bulkhead for each of many keys: tenants, hosts, accounts. Any bytes are a key; keys that nobody
// uses cost nothing.
//
//   KeyedBulkhead tenants{store, "vendor-api", {.limit = 10, .rates = {{.count = 100, .period = 1s}}}};
//   auto page = tenants.call(tenant_id, [&] { return http.get(url); });
class AIRLOCK_EXPORT KeyedBulkhead {
 public:
  KeyedBulkhead(const Store& store, std::string_view prefix, const BulkheadOptions& options);

  [[nodiscard]] GateName gate(std::string_view key) const { return gate_name(prefix_, key); }
  [[nodiscard]] std::uint32_t limit() const noexcept { return calls_.limit(); }

  template <BulkheadWork Work>
  decltype(auto) call(std::string_view key, Work&& work) const {
    return calls_.call(gate(key), {}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  decltype(auto) call(std::string_view key, const Ask& ask, Work&& work) const {
    return calls_.call(gate(key), ask, std::forward<Work>(work));
  }

  template <BulkheadWork Work>
  [[nodiscard]] auto try_call(std::string_view key, Work&& work) const {
    return calls_.try_call(gate(key), Duration(0), {}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  [[nodiscard]] auto try_call(std::string_view key, const Ask& ask, Work&& work) const {
    return calls_.try_call(gate(key), Duration(0), ask, std::forward<Work>(work));
  }

  template <BulkheadWork Work>
  [[nodiscard]] auto try_call_for(std::string_view key, AnyDuration max_wait, Work&& work) const {
    return calls_.try_call(gate(key), max_wait, {}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  [[nodiscard]] auto try_call_for(std::string_view key, AnyDuration max_wait, const Ask& ask,
                                  Work&& work) const {
    return calls_.try_call(gate(key), max_wait, ask, std::forward<Work>(work));
  }

  [[nodiscard]] Lease acquire(std::string_view key, const Ask& ask = {}) const {
    return calls_.acquire(gate(key), ask);
  }
  [[nodiscard]] Outcome<Lease> try_acquire(std::string_view key, const Ask& ask = {}) const {
    return calls_.try_acquire(gate(key), Duration(0), ask);
  }
  [[nodiscard]] Outcome<Lease> try_acquire_for(std::string_view key, AnyDuration max_wait,
                                               const Ask& ask = {}) const {
    return calls_.try_acquire(gate(key), max_wait, ask);
  }

  [[nodiscard]] std::uint32_t available_slots(std::string_view key) const;

  // Of all keys in one question, in their order.
  [[nodiscard]] std::vector<std::uint32_t> available_slots(
      std::span<const std::string_view> keys) const;

 private:
  internal::GuardedCalls calls_;
  std::string prefix_;
};

}  // namespace airlock
