// Back-pressure: while a dependency is unhealthy, nobody enters; then the line continues.
// expect: healthy: in
// expect: ill: paused
// expect: well again: in
// expect: the guard has it open
#include <atomic>
#include <iostream>
#include <thread>

#include "airlock/bulkhead.hpp"
#include "airlock/health_guard.hpp"

using namespace std::chrono_literals;

int main() {
  auto store = airlock::open_store("memory:");
  std::atomic<double> score = 1.0;

  // [guard]
  airlock::Bulkhead erp{store, "legacy-erp", {.limit = 10}};
  airlock::HealthGuard guard{
      store,
      "legacy-erp",
      {.health = [&] { return score.load(); }, .threshold = 0.5, .interval = 20ms}};
  // [/guard]
  if (erp.try_acquire()) std::cout << "healthy: in\n";

  score = 0.1;
  airlock::Outcome<airlock::Lease> lease = erp.try_acquire();
  for (; lease; lease = erp.try_acquire()) std::this_thread::sleep_for(1ms);
  std::cout << "ill: " << airlock::to_text(lease.error().reason) << "\n";

  score = 0.9;
  // [wait]
  (void)erp.try_call_for(10s, [] { std::cout << "well again: in\n"; });
  // [/wait]
  while (guard.is_closed()) std::this_thread::sleep_for(1ms);
  std::cout << "the guard has it open\n";
}
