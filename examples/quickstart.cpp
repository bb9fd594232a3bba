// A dependency that tolerates two at a time, and 100 calls a minute.
// expect: in, slot 0, fence [0-9]+
// expect: in, slot 1, fence [0-9]+
// expect: full, again in [0-9.]+(ms|s|m)
// expect: in, slot 0, fence [0-9]+
// [quickstart]
#include <cstdio>

#include "airlock/composite_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "airlock/store.hpp"

int main() {
  using namespace std::chrono_literals;
  auto store = airlock::open_store("memory:");
  airlock::CompositeSeal erp(airlock::SemaphoreSeal(store, "erp", {.limit = 2, .ttl = 10s}),
                             {airlock::Rate{.count = 100, .period = 1min}});

  const auto show = [](const airlock::Outcome<airlock::Admission>& held) {
    if (held) {
      std::printf("in, slot %u, fence %llu\n", *held->slot,
                  static_cast<unsigned long long>(held->token.fence));
    } else {
      std::printf("full, again in %s\n", airlock::to_text(held.error().retry_after).c_str());
    }
  };

  auto first = erp.try_acquire();  // One atomic question: a slot and a token, or neither.
  show(first);
  show(erp.try_acquire());
  show(erp.try_acquire());  // Refused: an answer with a reason and a time, not an error.

  erp.release(first->token);
  show(erp.try_acquire());
}
// [/quickstart]
