#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <string>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"
#include "support/chaos.hpp"

// Many processes, little CPU time, many keys.

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kRelaxed = std::memory_order_relaxed;

Store open(const TempDir& dir) { return shm::make_store({.dir = dir.path()}, Clock::system()); }

struct Crowd {
  std::atomic<int> waiting = 0;
  std::atomic<int> failures = 0;
  std::atomic<pid_t> inside = 0;
};

// Waits for its turn, says so, and holds until it is killed.
void wait_and_hold(const TempDir& dir, Crowd& crowd) {
  alarm(0);
  const Airlock gate(open(dir), "gate", {.limit = 1, .ttl = 1h, .max_wait = 1h, .patience = 1h});
  try {
    Place place = gate.join({});
    ++crowd.waiting;
    Outcome<Lease> lease = place.wait();
    if (!lease) throw Error("refused");
    crowd.inside = getpid();
    pause();
  } catch (const Error& error) {
    dprintf(2, "process %d: %s\n", getpid(), error.what());
    ++crowd.failures;
  }
}

// Crowds of 1 500 to 2 500 processes ended with `busy`, and who came after a killed holder waited 650 ms.
TEST(ShmCrowd, OfThreeThousandProcessesAtOneGate) {
  const TempDir dir;
  const SharedValue<Crowd> crowd;
  constexpr int kProcesses = 3'000;
  const int kills = takes_its_time() ? 2'000 : 200;
  std::vector<Child> children;
  children.reserve(kProcesses);
  for (int i = 0; i < kProcesses; ++i) children.emplace_back([&] { wait_and_hold(dir, *crowd); });
  ChaosRow row{.scenario = "3 000 processes at one gate (shm)",
               .over_admissions = 0,
               .leaks = 0,
               .hangs = 0};
  const bool all_wait = becomes_true(
      [&] { return crowd->waiting + crowd->failures == kProcesses && crowd->inside != 0; }, 300s);
  row.hangs = all_wait ? 0 : 1;
  std::vector<SteadyClock::duration> took;
  for (int i = 0; i < kills && all_wait; ++i) {
    const pid_t holder = crowd->inside;
    const auto began = SteadyClock::now();
    ::kill(holder, SIGKILL);
    if (!becomes_true([&] { return crowd->inside != holder; })) ++*row.hangs;
    took.push_back(SteadyClock::now() - began);
    ++row.faults;
  }
  row.operations = static_cast<std::uint64_t>(kProcesses + kills);
  row.leaks = static_cast<std::uint64_t>(crowd->failures);
  row.report();
  if (took.empty()) return;
  std::ranges::sort(took);
  const auto text = [](SteadyClock::duration time) {
    return to_text(std::chrono::duration_cast<Duration>(time));
  };
  std::cout << "kill -9 of a holder to the next one in: median " << text(took[took.size() / 2])
            << ", 99th " << text(took[took.size() * 99 / 100]) << ", worst " << text(took.back())
            << "\n";
}

struct Starved {
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> entered = 0;
  std::atomic<std::uint64_t> busy = 0;
  std::atomic<std::uint64_t> other_failures = 0;
  std::atomic<std::uint64_t> unguarded = 0;
  std::atomic<std::uint64_t> over = 0;
  std::atomic<int> inside = 0;
};

// Burns what CPU time it gets, half of it inside.
void enter_and_burn(const TempDir& dir, Starved& state) {
  constexpr int kLimit = 4;
  constexpr int kWork = 20'000;
  const Airlock gate(open(dir), "gate",
                     {.limit = kLimit, .ttl = 10min, .max_wait = 50ms, .outage = Outage::open});
  volatile int burnt = 0;
  while (!state.stop) {
    try {
      Outcome<Lease> lease = gate.enter();
      if (lease && !lease->guarded()) ++state.unguarded;
      if (lease && lease->guarded()) {
        if (++state.inside > kLimit) ++state.over;
        for (int i = 0; i < kWork; ++i) burnt = burnt + 1;
        --state.inside;
        ++state.entered;
      }
    } catch (const SealAcquiringError& error) {
      const bool is_busy = std::string(error.what()).find("busy") != std::string::npos;
      ++(is_busy ? state.busy : state.other_failures);
    }
    for (int i = 0; i < kWork; ++i) burnt = burnt + 1;
  }
}

// Without CPU time a call may end as `busy`. That is no outage: nobody is let in unguarded.
TEST(ShmCrowd, WithoutCpuTimeLetsNobodyInUnguarded) {
  const TempDir dir;
  const SharedValue<Starved> state;
  constexpr int kProcesses = 400;
  std::vector<Child> children;
  children.reserve(kProcesses);
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&] {
      alarm(600);
      enter_and_burn(dir, *state);
    });
  }
  std::this_thread::sleep_for(takes_its_time() ? 300s : 20s);
  state->stop = true;
  for (Child& child : children) EXPECT_TRUE(child.wait());
  std::cout << "starved: " << state->entered.load(kRelaxed) << " in, " << state->busy.load(kRelaxed)
            << " busy\n";
  ChaosRow{.scenario = "400 processes without CPU time (shm)",
           .faults = kProcesses,
           .operations = state->entered,
           .over_admissions = state->over + state->unguarded,
           .leaks = state->other_failures,
           .hangs = state->entered == 0 ? 1 : 0}
      .report();
}

// New keys were refused after two million, for ten minutes.
TEST(ShmCrowd, OfTenMillionKeysPassesThroughASmallSegment) {
  const TempDir dir;
  const auto store = shm::make_store({.dir = dir.path(), .size = 64 << 20}, Clock::system());
  const int keys = takes_its_time() ? 10'000'000 : 2'000'000;
  std::uint64_t refused = 0;
  for (int i = 0; i < keys; ++i) {
    const Answer answer = store.admit({.gate = "key" + std::to_string(i),
                                       .visitor = VisitorId::random(),
                                       .permits = Permits{.limit = 1, .ttl = 1h}});
    const auto* const granted = std::get_if<Granted>(&answer);
    if (granted == nullptr || !store.release(granted->token)) ++refused;
  }
  ChaosRow{.scenario = "keys that are used once (shm)",
           .operations = static_cast<std::uint64_t>(keys),
           .leaks = refused}
      .report();
}

}  // namespace
}  // namespace airlock::testing
