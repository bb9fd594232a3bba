// expect: ann: code sent
// expect: ann: wait 30s
// expect: bob: code sent
// expect: ann: wait 18s
// expect: ann: code sent
// A cooldown: "send the code again" works once in 30 seconds, for each user.

#include <iostream>
#include <string>

#include "airlock/cooldown_seal.hpp"
#include "airlock/testing.hpp"

using namespace std::chrono_literals;

namespace {

// [cooldown]
void resend_code(const airlock::Store& store, const std::string& user) {
  airlock::CooldownSeal resend(store, airlock::gate_name("resend-code", user), 30s);
  if (auto go = resend.try_acquire()) {
    std::cout << user << ": code sent\n";
  } else {
    std::cout << user << ": wait " << airlock::to_text(go.error().retry_after) << "\n";
  }
}
// [/cooldown]

}  // namespace

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);
  resend_code(store, "ann");
  resend_code(store, "ann");
  resend_code(store, "bob");
  clock.advance(12s);
  resend_code(store, "ann");
  clock.advance(18s);
  resend_code(store, "ann");
}
