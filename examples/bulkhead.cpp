// A bulkhead: the old ERP gets two calls at a time; a third is refused with a reason and a time.
// expect: 17 rows
// expect: full, again in [0-9.]+(ms|s)
// expect: legacy-erp takes 2: late after [0-9.]+(us|ms|s)
// expect: 1 slot free
// [bulkhead]
#include "airlock/bulkhead.hpp"

#include <iostream>

using namespace std::chrono_literals;

static int query(airlock::Fence fence) { return fence > 0 ? 17 : 0; }

int main() {
  auto store = airlock::open_store("memory:");  // The threads of this process share the limit.
  airlock::Bulkhead erp{store, "legacy-erp", {.limit = 2, .ttl = 10s, .max_wait = 20ms}};

  // Waits for its turn and runs. The lease is renewed meanwhile and released, also on a throw.
  const int rows = erp.call([](airlock::Lease& lease) { return query(lease.fence()); });
  std::cout << rows << " rows\n";

  airlock::Lease one = erp.acquire();  // Holds a slot until the end of the scope.
  airlock::Lease two = erp.acquire();

  auto page = erp.try_call([] { return "page"; });
  if (!page) std::cout << "full, again in " << airlock::to_text(page.error().retry_after) << "\n";

  try {
    erp.call([] {});  // No slot becomes free within max_wait.
  } catch (const airlock::BulkheadFullError& full) {
    std::cout << full.gate().view() << " takes " << full.limit() << ": "
              << airlock::to_text(full.reason()) << " after " << airlock::to_text(full.waited())
              << "\n";
  }

  one.release();  // Throws if it was lost meanwhile; the end of a scope never does.
  std::cout << erp.available_slots() << " slot free\n";
}
// [/bulkhead]
