#pragma once

#include <functional>
#include <memory>
#include <string>

#include "airlock/duration.hpp"
#include "airlock/store.hpp"
#include "airlock/version.hpp"

namespace airlock {

struct HealthGuardOptions {
  std::function<double()> health;  // 0 dead to 1 healthy. What it throws counts as 0.
  double threshold = 0.2;          // Below it the gate is closed.
  AnyDuration interval = std::chrono::seconds(1);
};

// Back-pressure: closes a gate, for every process and every call, while the thing behind it is not
// well, and opens it, to those who wait first, as soon as it is.
//
//   HealthGuard guard{store, "legacy-erp", {.health = [&] { return erp.score(); }}};
//
// It is a pause of this reporter that ends by itself after three intervals: a guard that dies does
// not leave the gate closed. Asks on a thread of its own, `airlock-health`.
class AIRLOCK_EXPORT HealthGuard {
 public:
  HealthGuard(const Store& store, const GateName& gate, const HealthGuardOptions& options);
  HealthGuard(const HealthGuard&) = delete;
  HealthGuard& operator=(const HealthGuard&) = delete;
  ~HealthGuard();  // Lifts its pause.

  // Whether it keeps the gate closed.
  [[nodiscard]] bool is_closed() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace airlock
