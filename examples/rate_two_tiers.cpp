// expect: call 1: passed, 2 left
// expect: call 3: passed, 0 left
// expect: call 4: refused, retry after 333\.334ms
// expect: calls in the first 10 seconds: 10
// expect: then: refused, retry after 5m50s
// A rate limit with two tiers: three per second, ten per hour. A refusal takes nothing from either.

#include <iostream>

#include "airlock/rate_limiter_seal.hpp"
#include "airlock/testing.hpp"

using namespace std::chrono_literals;

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);

  // [tiers]
  using airlock::Rate;
  airlock::RateLimiterSeal api(store, "api", {Rate::parse("3/s"), Rate::parse("10/h")});

  for (int call = 1; call <= 4; ++call) {
    auto answer = api.try_acquire();
    std::cout << "call " << call << ": ";
    if (answer) {
      std::cout << "passed, " << answer->rate.remaining << " left\n";
    } else {
      std::cout << "refused, retry after " << airlock::to_text(answer.error().retry_after) << "\n";
    }
  }
  // [/tiers]

  int calls = 3;
  for (int second = 1; second <= 10; ++second) {
    clock.advance(1s);
    while (api.try_acquire()) ++calls;
  }
  std::cout << "calls in the first 10 seconds: " << calls << "\n";
  std::cout << "then: refused, retry after " << airlock::to_text(api.peek().error().retry_after)
            << "\n";
}
