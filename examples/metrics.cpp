// expect: # TYPE airlock_granted_total counter
// expect: airlock_granted_total\{gate="erp"\} 2
// expect: airlock_refused_total\{gate="erp",reason="full"\} 1
// expect: airlock_wait_seconds_bucket\{gate="erp",le="\+Inf"\} 2
// expect: airlock_in_use\{gate="erp"\} 2
// The counters of a store for Prometheus, without the gates of single users.

#include "airlock/metrics.hpp"

#include <iostream>

#include "airlock/cooldown_seal.hpp"
#include "airlock/semaphore_seal.hpp"

int main() {
  auto store = airlock::open_store("memory:");
  airlock::SemaphoreSeal erp(store, "erp", {.limit = 2});
  for (int call = 0; call < 3; ++call) (void)erp.try_acquire();
  (void)airlock::CooldownSeal(store, airlock::gate_name("user", "17"), std::chrono::seconds(30))
      .try_acquire();

  // [metrics]
  airlock::write_metrics(store, std::cout,
                         [](std::string_view gate) { return !gate.starts_with("user:"); });
  // [/metrics]
}
