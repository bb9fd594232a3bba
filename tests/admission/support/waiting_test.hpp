#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "admission/keeper.hpp"
#include "airlock/testing.hpp"
#include "store/backend.hpp"
#include "store/shm/shm_store.hpp"
#include "testing/stepped_clock.hpp"
#ifdef AIRLOCK_WITH_REDIS
#include "store/redis/support/stepped_redis_store.hpp"
#endif
#include "store/support/temp_dir.hpp"

namespace airlock {

using namespace std::chrono_literals;

// A store of each kind, on a clock that is stepped and with faults on demand.
struct StoreKind {
  const char* name;
  Store (*make)(internal::SteppedClock& clock, const TempDir& dir);
};

inline const StoreKind kStoreKinds[] = {
    {"memory", [](internal::SteppedClock& clock,
                  const TempDir& /*dir*/) { return testing::memory_store(clock); }},
    {"shm", [](internal::SteppedClock& clock,
               const TempDir& dir) { return shm::make_store({.dir = dir.path()}, clock); }},
#ifdef AIRLOCK_WITH_REDIS
    {"redis", [](internal::SteppedClock& clock,
                 const TempDir& /*dir*/) { return testing::redis_store(clock); }},
#endif
};

// What waits for a thread of another's: real time, but only as long as it takes.
template <typename Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(200us);
  }
  return true;
}

// What everything that waits promises, whatever the store. Another store is one line above.
class WaitingTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  static constexpr long kOwn = 1;  // How many of a FaultyStore keep it, beside its keeper.

  // Whatever still runs in the background is at an end when the last but these let go: of the store, and
  // of its keeper, which a thread that gives back a lease has until it is done.
  ~WaitingTest() override {
    EXPECT_TRUE(eventually([&] { return internal::backend_of(store_).use_count() == kOwn; }));
    const auto keeper = internal::Keeper::of(internal::backend_of(store_));
    constexpr long kHandleAndHere = 2;
    EXPECT_TRUE(eventually([&] { return keeper.use_count() == kHandleAndHere; }));
  }

  void act_remote() { store_.act_remote(); }

  // Lets time pass in small steps, and whoever sleeps until one of them do what it has to.
  // `sleepers` are the threads that sleep by this clock: a thread that has just been started does
  // not yet.
  void pass(Duration duration, std::size_t sleepers = 1) {
    constexpr Duration kStep = 200ms;
    ASSERT_TRUE(eventually([&] { return clock_.waiting() >= sleepers; }));
    for (Duration passed{0}; passed < duration; passed += kStep) {
      // One that has just been notified still counts as asleep, and then does not: that may be now.
      const std::size_t asleep = std::max(sleepers, clock_.waiting());
      clock_.advance(kStep);
      ASSERT_TRUE(eventually([&] { return clock_.waiting() >= asleep; }));
    }
  }

  // airlock-ask: a remote store has it besides airlock-enter.
  [[nodiscard]] std::size_t asking_threads() const {
    return internal::backend_of(store_)->is_local() ? 0 : 1;
  }

  [[nodiscard]] std::uint32_t holders(const GateName& gate) {
    const auto view = store_.look(gate);
    return view ? view->counts.holders : 0;
  }
  // Returns when those who watch have been called; a remote store tells them a little later.
  void deliver_news() {
#ifdef AIRLOCK_WITH_REDIS
    testing::deliver_news(inner_);
#endif
  }

  // What destructors give back is back at once; where the store is remote, soon.
  [[nodiscard]] bool is_left_with(std::uint32_t count, const GateName& gate) {
    if (internal::backend_of(store_)->is_local()) return holders(gate) == count;
    return eventually([&] { return holders(gate) == count; });
  }
  [[nodiscard]] std::uint32_t waiting(const GateName& gate) {
    const auto view = store_.look(gate);
    return view ? view->counts.waiting : 0;
  }

  TempDir dir_;
  internal::SteppedClock clock_;
  Store inner_ = GetParam().make(clock_, dir_);
  testing::FaultyStore store_ = testing::FaultyStore(inner_);
};

inline std::string kind_name(const ::testing::TestParamInfo<StoreKind>& info) {
  return info.param.name;
}

#define AIRLOCK_WAITING_SUITE(Suite) \
  INSTANTIATE_TEST_SUITE_P(Stores, Suite, ::testing::ValuesIn(kStoreKinds), kind_name)

}  // namespace airlock
