#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "admission/support/log.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/store.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/child.hpp"
#include "store/support/cpu_wait.hpp"

// The server hangs, or its reply is lost, while somebody asks: nobody learns what became of it. A
// visitor that only the library knows leaves nothing behind.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::ChaosProxy;
using testing::RedisServer;
using TimePoint = std::chrono::steady_clock::time_point;

constexpr Duration kTimeout = 200ms;

class UnknownOutcomes : public ::testing::Test {
 protected:
  ~UnknownOutcomes() override { resume(); }

  [[nodiscard]] Store opened() const {
    return redis::make_store({.address = server_.address(), .timeout = kTimeout});
  }
  void stall() { ::kill(server_.pid(), SIGSTOP); }
  void resume() { ::kill(server_.pid(), SIGCONT); }

  // Whether nobody is inside or waits, as others see it.
  [[nodiscard]] bool is_free(const GateName& gate) {
    const auto view = others_.look(gate);
    return !view || (view->counts.holders == 0 && view->counts.waiting == 0);
  }

  RedisServer server_;
  Store store_ = opened();
  const Store others_ = open_store(server_.uri() + "?timeout=5s");
};

// The permits of 30 questions were gone for their whole ttl, with nobody inside.
TEST_F(UnknownOutcomes, OfEntriesDoNotBlockTheGate) {
  const Airlock airlock(store_, "gate", {.limit = 20});
  (void)airlock.try_enter();
  ASSERT_TRUE(store_.flush(10s));
  stall();
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 30; ++i) {
      threads.emplace_back([&, waits = i % 2 == 0] {
        try {
          (void)airlock.try_enter_for(waits ? 1s : 0s);
        } catch (const SealAcquiringError&) {
          ++failed;
        }
      });
    }
  }
  EXPECT_EQ(failed, 30);
  resume();
  EXPECT_TRUE(becomes_true([&] { return is_free("gate"); }, 5s)) << "and not after 30 s";
  EXPECT_TRUE(store_.flush(10s));
}

TEST_F(UnknownOutcomes, OfAWaiterDoNotLeaveItInLine) {
  const auto log = std::make_shared<Log>();
  const Airlock airlock(store_, "gate", {.limit = 1, .patience = 60s, .observer = log});
  LockSeal holder(others_, "gate", {.readers = 1});
  const Outcome<Admission> held = holder.try_acquire();
  ASSERT_TRUE(held);
  std::jthread waiter([&] { EXPECT_FALSE(airlock.try_enter_for(2s)); });
  ASSERT_TRUE(becomes_true([&] { return !log->lines().empty(); })) << "it knows that it waits";
  stall();
  std::this_thread::sleep_for(900ms);  // Nothing to wait for: its asks fail, and it waits on.
  resume();
  waiter.join();
  EXPECT_TRUE(becomes_true([&] { return others_.look("gate")->counts.waiting == 0; }, 5s));
  holder.release(held->token);
}

// No thread works for seals: the next step does it, at whatever gate.
TEST_F(UnknownOutcomes, OfSealsEndWithTheNextStep) {
  const LockSeal lock(store_, "lock");
  ASSERT_TRUE(lock.is_acquired(lock.try_acquire()->token));
  ASSERT_TRUE(others_.purge("lock"));
  stall();
  EXPECT_THROW((void)lock.try_acquire(), SealAcquiringError);
  resume();
  ASSERT_TRUE(becomes_true([&] { return !is_free("lock"); }, 10s)) << "the question arrived";
  ASSERT_TRUE(becomes_true([&] {
    try {
      (void)store_.look("another");
      return true;
    } catch (const StoreError&) {
      return false;  // The server is tried again after a moment.
    }
  }));
  EXPECT_TRUE(is_free("lock"));
}

TEST_F(UnknownOutcomes, OfSealsEndWithTheStore) {
  {
    const LockSeal lock(store_, "lock");
    (void)lock.is_acquired(lock.try_acquire()->token);
    ASSERT_TRUE(others_.purge("lock"));
    stall();
    EXPECT_THROW((void)lock.try_acquire(), SealAcquiringError);
    resume();
  }
  ASSERT_TRUE(becomes_true([&] { return !is_free("lock"); }, 10s)) << "the question arrived";
  std::this_thread::sleep_for(200ms);  // The server may be tried again.
  store_ = {};
  EXPECT_TRUE(is_free("lock"));
}

TEST_F(UnknownOutcomes, OfNamedVisitorsStayForThemToAskAgain) {
  const LockSeal lock(store_, "lock");
  const Visitor who{.id = VisitorId::named("alice")};
  ASSERT_TRUE(lock.is_acquired(lock.try_acquire(who)->token));
  ASSERT_TRUE(others_.purge("lock"));
  stall();
  EXPECT_THROW((void)lock.try_acquire(who), SealAcquiringError);
  resume();
  ASSERT_TRUE(becomes_true([&] { return !is_free("lock"); }, 10s));
  Outcome<Admission> again = Refused{};
  ASSERT_TRUE(becomes_true([&] {
    try {
      again = lock.try_acquire(who);
      return true;
    } catch (const SealAcquiringError&) {
      return false;
    }
  }));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->repeated);
}

// It was asked for again, as if that were harmless.
TEST_F(UnknownOutcomes, OfRatesAloneAreChargedOnce) {
  ChaosProxy proxy(server_.socket(), server_.folder());
  const auto store = redis::make_store({.address = proxy.address(), .timeout = kTimeout});
  const Airlock airlock(store, "api", {.limit = 0, .rates = {Rate::parse("10/1h,burst=10")}});
  const auto remaining = [&] { return others_.look("api")->rates.front().info.remaining; };
  ASSERT_TRUE(airlock.try_enter_for(10s));
  ASSERT_EQ(remaining(), 9U);
  proxy.set(ChaosProxy::Fault::lose_one);
  EXPECT_THROW((void)airlock.try_enter_for(10s), SealAcquiringError);
  EXPECT_EQ(remaining(), 8U);
}

// Law 10. It overran by a timeout for each step that it was in: asking, subscribing, leaving.
TEST_F(UnknownOutcomes, OfAWaiterKeepItNoLongerThanItWouldWait) {
  const auto slow = open_store(server_.uri() + "?timeout=2s");
  const LockSeal holder(others_, "gate", {.ttl = 60s, .readers = 1});
  ASSERT_TRUE(holder.try_acquire());
  for (const auto stalled_after : {0ms, 100ms, 400ms}) {
    resume();
    ASSERT_TRUE(becomes_true([&] { return others_.look("gate")->counts.waiting == 0; }));
    const auto log = std::make_shared<Log>();
    const Airlock airlock(slow, "gate", {.limit = 1, .observer = log});
    Duration took{0};
    std::jthread waiter([&] {
      const auto kept_before = testing::cpu_wait();
      const TimePoint start = std::chrono::steady_clock::now();
      try {
        EXPECT_FALSE(airlock.try_enter_for(600ms));
      } catch (const SealAcquiringError&) {  // NOLINT(bugprone-empty-catch): as well
      }
      took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start -
                                                  (testing::cpu_wait() - kept_before));
    });
    ASSERT_TRUE(becomes_true([&] { return !log->lines().empty(); })) << "it is in line";
    std::this_thread::sleep_for(stalled_after);
    stall();
    waiter.join();
    EXPECT_LT(took, 650ms) << "stalled after " << stalled_after.count() << " ms";
  }
}

}  // namespace
}  // namespace airlock
