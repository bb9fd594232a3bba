// expect: two calls at once: in, 1 of 3 tokens left
// expect: a third: full
// expect: after a release: in, 0 of 3 tokens left
// expect: after another: rate, ask again in 20s
// A vendor that allows two calls at once and three per minute, decided in one step: a call that is
// refused for one reason takes nothing of the other.

#include <iostream>

#include "airlock/composite_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "airlock/testing.hpp"

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);

  // [composite]
  airlock::CompositeSeal vendor(airlock::SemaphoreSeal(store, "vendor", {.limit = 2}),
                                {airlock::Rate::parse("3/m")});

  auto one = vendor.try_acquire();
  auto two = vendor.try_acquire();
  if (!one || !two) return 1;
  std::cout << "two calls at once: in, " << two->rate.remaining << " of 3 tokens left\n";
  std::cout << "a third: " << airlock::to_text(vendor.try_acquire().error().reason) << "\n";

  vendor.release(one->token);  // Releases the slot; what the rate charged is spent.
  auto three = vendor.try_acquire();
  if (!three) return 1;
  std::cout << "after a release: in, " << three->rate.remaining << " of 3 tokens left\n";

  vendor.release(two->token);
  auto four = vendor.try_acquire();
  if (!four) {
    std::cout << "after another: " << airlock::to_text(four.error().reason) << ", ask again in "
              << airlock::to_text(four.error().retry_after) << "\n";
  }
  // [/composite]
}
