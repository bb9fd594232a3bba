// A dependency that tolerates two calls at a time.
// expect: 17 rows
// expect: full, retry after [0-9.]+(ms|s)
// [quickstart]
#include <iostream>

#include "airlock/airlock.hpp"

using namespace std::chrono_literals;

int main() {
  auto store = airlock::open_store("memory:");  // "shm:" for a host, "redis://..." for a fleet.
  airlock::Bulkhead erp{store, "legacy-erp", {.limit = 2, .ttl = 10s, .max_wait = 200ms}};

  // Waits up to max_wait for a slot, then runs. The slot is released on return or throw.
  const int rows = erp.call([] { return 17; });  // For example a slow query.
  std::cout << rows << " rows\n";

  airlock::Lease one = erp.acquire();  // Holds a slot until the end of the scope.
  airlock::Lease two = erp.acquire();

  auto page = erp.try_call([] { return "page"; });  // Never waits.
  if (!page) {
    std::cout << airlock::to_text(page.error().reason) << ", retry after "
              << airlock::to_text(page.error().retry_after) << "\n";
  }
}
// [/quickstart]
