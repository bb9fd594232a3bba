// expect: first job: in
// expect: second job: refused, ask again in 1m
// expect: renewed, 59\.4s left
// expect: released by its token
// expect: released twice: the admission has ended before
// A lock: one holder at a time; its token may be released anywhere, once.

#include <iostream>
#include <string>

#include "airlock/error.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/testing.hpp"

using namespace std::chrono_literals;

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);

  // [lock]
  airlock::LockSeal nightly(store, "nightly-report", {.ttl = 1min});

  auto held = nightly.try_acquire();
  if (!held) return 1;
  std::cout << "first job: in\n";

  auto second = nightly.try_acquire();
  if (!second) {
    std::cout << "second job: refused, ask again in "
              << airlock::to_text(second.error().retry_after) << "\n";
  }
  // [/lock]

  // [renew]
  clock.advance(50s);    // Work that takes longer than expected.
  nightly.renew(*held);  // LeaseExpiredError if it came too late: stop the work.
  std::cout << "renewed, " << airlock::to_text(nightly.remaining_lifetime(*held)) << " left\n";
  // [/renew]

  // [token]
  const std::string text = held->token.text();  // In a cookie, a job, a file.
  nightly.release(airlock::Token::parse(text));
  std::cout << "released by its token\n";
  // [/token]

  try {
    nightly.release(held->token);
  } catch (const airlock::SealReleasingError&) {
    std::cout << "released twice: the admission has ended before\n";
  }
}
