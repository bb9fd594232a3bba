#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/support/shifted_server.hpp"
#include "store/support/failures.hpp"

// A server whose wall clock is set by an hour while it runs. Back: nothing is frozen, nothing lasts
// longer. Forward: it cannot be told from time that has passed, and does no more than that.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::ShiftedServer;

class ShiftedClock : public ::testing::Test {
 protected:
  void step(Duration by) { server_.step(by); }

  Granted admit(const VisitorId& visitor, Duration ttl, std::uint32_t limit = 1) {
    Request ask = asks("gate", visitor, limit);
    ask.permits->ttl = ttl;
    return std::get<Granted>(store_.admit(ask));
  }
  [[nodiscard]] bool enters(const Request& ask) {
    return std::holds_alternative<Granted>(store_.admit(ask));
  }
  // Within seconds, not within an hour.
  [[nodiscard]] bool enters_soon(const Request& ask) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < end) {
      if (enters(ask)) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  ShiftedServer server_;
  const Store store_ = open_store(server_.server().uri() + "?timeout=5s");
};

TEST_F(ShiftedClock, IsWhatTheServerTells) {
  const auto seconds = [&] { return std::stoll(server_.server().command({"TIME"})); };
  const auto before = seconds();
  step(1h);
  EXPECT_GE(seconds() - before, 3600);
  step(-2h);
  EXPECT_LE(seconds() - before, -3500);
}

// --- back ---

TEST_F(ShiftedClock, SetBackALeaseEndsWhenItWouldHave) {
  const Granted ann = admit(VisitorId::random(), 300ms);
  for (int i = 0; i < 5; ++i) {
    step(-1h);
    const auto view = store_.look("gate");
    for (const HolderView& holder : view->holders) EXPECT_LE(holder.remaining, 300ms);
  }
  EXPECT_TRUE(enters_soon(asks("gate", VisitorId::random())));
  EXPECT_FALSE(store_.release(ann.token));
}

TEST_F(ShiftedClock, SetBackALeaseIsRenewedAndFencesGrow) {
  Fence last = 0;
  for (int i = 0; i < 5; ++i) {
    const Granted granted = admit(VisitorId::random(), 30s);
    EXPECT_GT(granted.token.fence, last);
    last = granted.token.fence;
    step(-1h);
    EXPECT_EQ(store_.renew(granted.token, 30s), Renewal::renewed);
    EXPECT_LE(store_.look("gate")->holders.at(0).remaining, 30s);
    EXPECT_TRUE(store_.release(granted.token));
  }
}

// What Redis forgets by itself while nobody uses it would take the fence along.
TEST_F(ShiftedClock, SetBackAndForwardAnUnusedGateKeepsItsFence) {
  Fence last = 0;
  for (const Duration by : {Duration(10h), Duration(-20h), Duration(1h), Duration(5h)}) {
    step(by);
    const Granted granted = admit(VisitorId::random(), 30s);
    EXPECT_GT(granted.token.fence, last) << "after a step of " << by.count() << " us";
    last = granted.token.fence;
    EXPECT_TRUE(store_.release(granted.token));
  }
}

TEST_F(ShiftedClock, SetBackARateAndAPauseGoOn) {
  const Rate rate{.count = 1, .period = 200ms};
  const Request ask{.gate = "gate", .visitor = VisitorId::random(), .rates = {&rate, 1}};
  ASSERT_TRUE(enters(ask));
  step(-1h);
  const Answer answer = store_.admit(ask);
  const auto* const refused = std::get_if<Refused>(&answer);
  EXPECT_TRUE(refused == nullptr || refused->retry_after <= 200ms);
  EXPECT_TRUE(enters_soon(ask));
  store_.pause("gate", 200ms);
  step(-1h);
  EXPECT_TRUE(enters_soon(ask));
}

TEST_F(ShiftedClock, SetBackALineMovesOn) {
  const Airlock airlock(store_, "gate", {.limit = 1, .ttl = 2s});
  Outcome<Lease> first = airlock.enter();
  ASSERT_TRUE(first);
  std::thread waiter([&] { EXPECT_TRUE(airlock.try_enter_for(30s)); });
  while (store_.look("gate")->counts.waiting == 0) std::this_thread::sleep_for(1ms);
  const auto start = std::chrono::steady_clock::now();
  step(-1h);
  first->release();
  waiter.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

// --- forward ---

TEST_F(ShiftedClock, SetForwardEndsTheLeasesOfThatHourAlone) {
  constexpr std::uint32_t kLimit = 101;
  std::vector<Token> ended;
  for (int i = 0; i < 100; ++i) {
    ended.push_back(admit(VisitorId::random(), 30s, kLimit).token);
  }
  const Token lasting = admit(VisitorId::random(), 2h, kLimit).token;
  step(1h);
  const auto view = store_.look("gate");
  ASSERT_EQ(view->holders.size(), 1U);
  EXPECT_LE(view->holders[0].remaining, 1h);
  EXPECT_GT(view->holders[0].remaining, 59min);
  EXPECT_EQ(view->counters.expired, 100U);
  for (const Token& token : ended) EXPECT_EQ(store_.renew(token, 30s), Renewal::gone);
  EXPECT_EQ(store_.renew(lasting, 2h), Renewal::renewed);
  EXPECT_GT(admit(VisitorId::random(), 30s, kLimit).token.fence, lasting.fence);
}

TEST_F(ShiftedClock, SetForwardARateHasItsPeriodsBackAndNoMore) {
  const Rate rate{.count = 5, .period = 1h};
  const Request ask{.gate = "gate", .visitor = VisitorId::random(), .rates = {&rate, 1}};
  const auto let_in = [&] {
    int count = 0;
    while (count < 100 && enters(ask)) ++count;
    return count;
  };
  EXPECT_EQ(let_in(), 5);
  step(1h);
  EXPECT_EQ(let_in(), 5);
}

TEST_F(ShiftedClock, SetForwardAHolderLearnsItAndAWaiterComesIn) {
  const Airlock airlock(store_, "gate", {.limit = 1, .ttl = 2s});
  Outcome<Lease> first = airlock.enter();
  ASSERT_TRUE(first);
  std::thread waiter([&] {
    Outcome<Lease> second = airlock.try_enter_for(30s);
    EXPECT_TRUE(second && second->fence() > first->fence());
  });
  while (store_.look("gate")->counts.waiting == 0) std::this_thread::sleep_for(1ms);
  step(1h);
  waiter.join();
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!first->lost().stop_requested() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(first->lost().stop_requested());
}

// Redis forgets the keys of a gate by its own clock. All of them or none: with the set of those inside
// gone and their number left, the gate would be full for good.
TEST_F(ShiftedClock, SetBackAndForwardAGateIsForgottenAsAWhole) {
  EXPECT_TRUE(store_.release(admit(VisitorId::random(), 1s).token));
  step(-30min);
  (void)admit(VisitorId::random(), 1s);
  step(90min);
  EXPECT_TRUE(enters(asks("gate", VisitorId::random())));
  EXPECT_EQ(store_.look("gate")->counts.holders, 1U);
}

TEST_F(ShiftedClock, SetForwardAnOperatorsLimitIsKeptAndNobodyUnderIt) {
  store_.set_limit("gate", 2);
  const Token ann = admit(VisitorId::random(), 1s).token;
  (void)admit(VisitorId::random(), 1s);
  EXPECT_TRUE(store_.release(ann));  // Now there is a free slot below another.
  Request waits = asks("gate", VisitorId::random(), 3);
  waits.permits->weight = 2;
  waits.line.join = true;
  EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(waits)));
  step(3h);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(enters(asks("gate", VisitorId::random(), 5)));
  EXPECT_FALSE(enters(asks("gate", VisitorId::random(), 5)));
  const GateCounts counts = store_.look("gate")->counts;
  EXPECT_EQ(counts.holders, 2U);
  EXPECT_EQ(counts.waiting, 0U);
}

// A clock that was wrong for a moment.
TEST_F(ShiftedClock, SetForwardAndBackAgainNothingIsStuck) {
  const Token ann = admit(VisitorId::random(), 300ms).token;
  for (int i = 0; i < 5; ++i) {
    step(1h);
    (void)store_.look("gate");
    step(-1h);
    EXPECT_TRUE(enters_soon(asks("gate", ann.visitor)));
    EXPECT_EQ(store_.look("gate")->counts.holders, 1U);
  }
}

}  // namespace
}  // namespace airlock
