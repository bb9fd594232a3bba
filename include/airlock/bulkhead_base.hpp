#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "airlock/ask.hpp"
#include "airlock/error.hpp"
#include "airlock/export.hpp"
#include "airlock/lease.hpp"
#include "airlock/observer.hpp"
#include "airlock/outage.hpp"
#include "airlock/outcome.hpp"
#include "airlock/rate.hpp"
#include "airlock/store.hpp"

namespace airlock {

namespace keeping {
class Entrance;
}

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
  Duration ttl = std::chrono::seconds(30);  // A crashed holder's slot is back after this.
  Duration max_wait{0};                     // 0: refuse at once instead of joining the line.
  Duration max_hold = kForever;             // A hung callable keeps its slot no longer than this.
  std::vector<Rate> rates = {};             // Beside the limit: what the dependency takes per time.
  std::uint32_t max_waiting = 0;            // A longer line refuses. 0: no bound.
  Outage outage = Outage::closed;
  std::uint32_t local_limit = 1;  // Outage::local.
  std::shared_ptr<Observer> observer = {};
};

// A callable of a bulkhead: it may want to know its lease.
template <typename Work>
concept BulkheadWork = std::invocable<Work, Lease&> || std::invocable<Work>;

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
using BulkheadResult = decltype(invoke_inside(std::declval<Work>(), std::declval<Lease&>()));

// What bulkheads have in common: any gate, the same rules.
class AIRLOCK_EXPORT BulkheadBase {
 public:
  [[nodiscard]] std::uint32_t limit() const noexcept;

 protected:
  BulkheadBase(std::shared_ptr<Store> store, const BulkheadOptions& options);
  BulkheadBase(const BulkheadBase&);
  BulkheadBase& operator=(const BulkheadBase&);
  ~BulkheadBase();

  [[nodiscard]] Outcome<Lease> enter(const GateName& gate, const Ask& ask) const;
  [[nodiscard]] Outcome<Lease> try_enter(const GateName& gate, Ask ask) const;
  [[nodiscard]] Lease acquire_at(const GateName& gate, const Ask& ask) const;
  [[nodiscard]] std::vector<std::uint32_t> available_at(std::span<const GateName> gates) const;

  template <BulkheadWork Work>
  [[nodiscard]] Outcome<BulkheadResult<Work>> try_call_at(const GateName& gate, const Ask& ask,
                                                          Work&& work) const {
    Outcome<Lease> lease = enter(gate, ask);
    if (!lease) return lease.error();
    if constexpr (std::is_void_v<BulkheadResult<Work>>) {
      run(gate, std::move(*lease), std::forward<Work>(work));
      return {};
    } else {
      return run(gate, std::move(*lease), std::forward<Work>(work));
    }
  }

  // The lease is renewed while the callable runs and given back when it returns or throws. If
  // giving back fails, the value or the exception is kept and the observer told.
  template <BulkheadWork Work>
  BulkheadResult<Work> run(const GateName& gate, Lease lease, Work&& work) const {
    const Finish finish{*this, gate, lease};
    return invoke_inside(std::forward<Work>(work), lease);
  }

 private:
  struct Finish {
    const BulkheadBase& bulkhead;
    const GateName& gate;
    Lease& lease;
    ~Finish() { bulkhead.finish(gate, lease); }
  };

  void finish(const GateName& gate, Lease& lease) const noexcept;

  std::shared_ptr<keeping::Entrance> entrance_;
};

}  // namespace airlock
