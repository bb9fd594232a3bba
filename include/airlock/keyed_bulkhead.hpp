#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "airlock/ask.hpp"
#include "airlock/bulkhead_base.hpp"
#include "airlock/export.hpp"
#include "airlock/lease.hpp"
#include "airlock/outcome.hpp"
#include "airlock/store.hpp"

namespace airlock {

// A bulkhead for each of many keys: tenants, hosts, accounts. Any bytes are a key; keys that nobody
// uses cost nothing.
//
//   KeyedBulkhead tenants{store, "vendor-api", {.limit = 10, .rates = {{.count = 100, .period = 1s}}}};
//   auto page = tenants.call(tenant_id, [&] { return http.get(url); });
class AIRLOCK_EXPORT KeyedBulkhead : public BulkheadBase {
 public:
  KeyedBulkhead(std::shared_ptr<Store> store, std::string_view prefix,
                const BulkheadOptions& options);

  [[nodiscard]] GateName gate(std::string_view key) const { return gate_name(prefix_, key); }

  template <BulkheadWork Work>
  decltype(auto) call(std::string_view key, Work&& work) const {
    return call(key, Ask{}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  decltype(auto) call(std::string_view key, const Ask& ask, Work&& work) const {
    const GateName name = gate(key);
    return run(name, acquire_at(name, ask), std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  [[nodiscard]] auto try_call(std::string_view key, Work&& work) const {
    return try_call(key, Ask{}, std::forward<Work>(work));
  }
  template <BulkheadWork Work>
  [[nodiscard]] auto try_call(std::string_view key, const Ask& ask, Work&& work) const {
    return try_call_at(gate(key), ask, std::forward<Work>(work));
  }

  [[nodiscard]] Lease acquire(std::string_view key, const Ask& ask = {}) const {
    return acquire_at(gate(key), ask);
  }
  [[nodiscard]] Outcome<Lease> try_acquire(std::string_view key, const Ask& ask = {}) const {
    return try_enter(gate(key), ask);
  }

  [[nodiscard]] std::uint32_t available_slots(std::string_view key) const;

  // Of all keys in one question, in their order.
  [[nodiscard]] std::vector<std::uint32_t> available_slots(
      std::span<const std::string_view> keys) const;

 private:
  std::string prefix_;
};

}  // namespace airlock
