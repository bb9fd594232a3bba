// expect: exports: ok
// expect: waits for another exporter: ok
// expect: but for a crashed one no longer than its ttl: ok
// expect: tells a store that is down from one that is full: ok
// Testing your own class: time is stepped instead of slept, and the store fails on demand.

#include <cstdlib>
#include <iostream>
#include <string>

#include "airlock/error.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/testing.hpp"

using namespace std::chrono_literals;

// [class]
class ReportExporter {
 public:
  explicit ReportExporter(const airlock::Store& store) : lock_(store, "export", {.ttl = 60s}) {}

  std::string run() try {
    auto held = lock_.try_acquire();
    if (!held) return "busy for " + airlock::to_text(held.error().retry_after);
    lock_.release(held->token);  // After the work.
    return "done";
  } catch (const airlock::SealAcquiringError&) {
    return "try later";
  }

 private:
  airlock::LockSeal lock_;
};
// [/class]

static void check(const char* what, bool ok) {
  std::cout << what << (ok ? ": ok\n" : ": FAILED\n");
  if (!ok) std::abort();
}

int main() {
  // [test]
  airlock::testing::ManualClock clock;
  airlock::testing::FaultyStore store(airlock::testing::memory_store(clock));
  ReportExporter exporter(store);
  check("exports", exporter.run() == "done");

  const auto crashed = airlock::LockSeal(store, "export", {.ttl = 60s}).try_acquire();
  check("waits for another exporter", crashed && exporter.run() == "busy for 1m");
  clock.advance(60s);
  check("but for a crashed one no longer than its ttl", exporter.run() == "done");

  store.down(true);
  check("tells a store that is down from one that is full", exporter.run() == "try later");
  // [/test]
}
