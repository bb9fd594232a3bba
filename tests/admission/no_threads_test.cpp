#include "support/no_threads.hpp"

#include <atomic>
#include <optional>
#include <string>

#include "admission/support/log.hpp"
#include "admission/support/waiting_test.hpp"
#include "admission/worker.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/error.hpp"
#include "airlock/health_guard.hpp"
#include "airlock/mutex.hpp"
#include "airlock/store.hpp"
#include "testing/stepped_clock.hpp"

// No thread can be started. That is an answer: nothing is left behind, and the next call tries again.

namespace airlock {
namespace {

constexpr const char* kGate = "erp";

template <typename Call>
std::optional<StoreError> store_failure(Call call) {
  try {
    call();
  } catch (const StoreError& error) {
    return error;
  }
  return std::nullopt;
}

template <typename Call>
void expect_no_thread(Call call) {
  const std::optional<StoreError> failure = store_failure(call);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), StoreError::Kind::no_room);
  EXPECT_EQ(failure->outcome(), StoreError::Outcome::nothing_happened);
  EXPECT_THAT(failure->what(), ::testing::HasSubstr("no thread"));
}

class WithoutThreads : public WaitingTest {
 protected:
  void expect_nothing_left() {
    EXPECT_EQ(holders(kGate), 0U);
    EXPECT_EQ(waiting(kGate), 0U);
    EXPECT_TRUE(store_.drain(0s));
  }

  const Airlock erp_{store_, kGate, {.limit = 1, .ttl = 3s, .max_wait = kForever}};
};

TEST_P(WithoutThreads, WhatCannotBeRenewedIsGivenBack) {
  {
    const NoThreads none;
    expect_no_thread([&] { (void)erp_.try_enter(); });
    expect_no_thread([&] { (void)erp_.enter(); });
    expect_no_thread([&] { Mutex(store_, kGate).lock(); });
    expect_no_thread([&] { (void)Bulkhead(store_, kGate, {.limit = 1}).acquire(); });
    expect_nothing_left();
  }
  const Outcome<Lease> lease = erp_.try_enter();
  ASSERT_TRUE(lease);
  pass(10s);
  EXPECT_TRUE(lease->valid()) << "renewed by the thread that could be started then";
  EXPECT_FALSE(erp_.try_enter());
}

TEST_P(WithoutThreads, WhatIsNeverRenewedNeedsNone) {
  const NoThreads none;
  const Airlock erp(store_, kGate, {.limit = 1, .ttl = 3s, .max_hold = 3s});
  const Outcome<Lease> lease = erp.try_enter();
  ASSERT_TRUE(lease);
  clock_.advance(3s);
  EXPECT_FALSE(lease->valid());
}

TEST_P(WithoutThreads, ThePolicyOfAnOutageLetsNobodyIn) {
  const NoThreads none;
  for (const Outage outage : {Outage::open, Outage::local}) {
    const Airlock erp(store_, kGate, {.limit = 1, .outage = outage});
    expect_no_thread([&] { (void)erp.try_enter(); });
  }
}

TEST_P(WithoutThreads, WhoWaitsWithoutAThreadIsTold) {
  std::atomic<int> called = 0;
  {
    const NoThreads none;
    expect_no_thread([&] { (void)erp_.join().wait(); });
    expect_no_thread([&] { erp_.enter_async({}, [&](Arrival&) { ++called; }); });
    expect_nothing_left();
  }
  {
    Outcome<Lease> holder = erp_.try_enter();
    const NoThreads none;
    expect_no_thread([&] { (void)erp_.join(); });
    holder->release();
    expect_nothing_left();
  }
  EXPECT_EQ(called, 0);
  erp_.enter_async({}, [&](Arrival& arrival) { called += arrival.take() ? 1 : 0; });
  EXPECT_TRUE(eventually([&] { return called == 1; }));
}

TEST_P(WithoutThreads, ALeaseThatCannotTellIsStillALease) {
  const Outcome<Lease> lease = erp_.try_enter();
  ASSERT_TRUE(lease);
  {
    const NoThreads none;
    expect_no_thread([&] { (void)lease->lost(); });
  }
  EXPECT_TRUE(lease->valid());
  const std::stop_token lost = lease->lost();
  store_.revoke(kGate, {}, Revoke::graceful);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
}

TEST_P(WithoutThreads, AnAdoptedTokenStaysDetached) {
  std::optional<Token> token;
  {
    Outcome<Lease> lease = erp_.try_enter();
    token = lease->detach();
  }
  const auto fresh = testing::FaultyStore(inner_);  // A keeper without a thread.
  {
    const NoThreads none;
    expect_no_thread([&] { (void)Lease::adopt(fresh, *token, 30s); });
  }
  EXPECT_EQ(holders(kGate), 1U);
  EXPECT_EQ(store_.look(kGate)->holders.front().hold, Hold::detached);
  EXPECT_TRUE(fresh.drain(0s));
  EXPECT_NO_THROW(Lease::adopt(fresh, *token, 30s).release());
}

TEST_P(WithoutThreads, ALossIsToldLater) {
  const auto log = std::make_shared<Log>();
  const Airlock erp(store_, kGate, {.limit = 1, .ttl = 3s, .observer = log});
  const Outcome<Lease> lease = erp.try_enter();
  ASSERT_TRUE(lease);
  {
    const NoThreads none;
    ASSERT_TRUE(store_.lose(lease->token()));
    pass(3s);
    EXPECT_FALSE(lease->valid());
    EXPECT_EQ(log->last().kind, Event::Kind::granted);
  }
  pass(1s);
  EXPECT_TRUE(eventually([&] { return log->last().kind == Event::Kind::lost; }));
}

TEST_P(WithoutThreads, AHealthGuardIsNotMade) {
  const NoThreads none;
  expect_no_thread([&] { const HealthGuard guard(store_, kGate, {.health = [] { return 1.0; }}); });
}

TEST_P(WithoutThreads, AWatchIsRefusedOrCalled) {
  Request request{.gate = kGate, .visitor = VisitorId::named("in"), .permits = Permits{.limit = 1}};
  const Answer inside = store_.admit(request);
  request.visitor = VisitorId::named("waits");
  request.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(request)));
  std::atomic<bool> told = false;
  const auto watch = [&] { return store_.watch(kGate, request.visitor, [&] { told = true; }); };
  try {
    const NoThreads none;
    (void)watch();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::no_room);
  }
  ASSERT_TRUE(watch());
  ASSERT_TRUE(store_.release(std::get<Granted>(inside).token));
  EXPECT_TRUE(eventually([&] { return told.load(); }));
}

AIRLOCK_WAITING_SUITE(WithoutThreads);

// It ended with the last object that used it, and the next one started its threads again.
TEST(Keeper, LivesAsLongAsTheStoreHandle) {
  const Store store = open_store("memory:");
  const auto enters = [&] {
    return Airlock(store, "erp", {.limit = 1, .ttl = 3s}).try_enter().has_value();
  };
  EXPECT_TRUE(enters());
  const NoThreads none;
  EXPECT_TRUE(enters());
}

TEST(Worker, TriesAgainAfterItsThreadCouldNotBeStarted) {
  internal::SteppedClock clock;
  std::atomic<int> works = 0;
  internal::Worker worker("worker", clock, [&] {
    worker.plan(kForever);
    ++works;
    works.notify_all();
  });
  {
    const NoThreads none;
    EXPECT_THROW(worker.need(Instant{0}), StoreError);
    EXPECT_THROW(worker.need(clock.now() + 1h), StoreError);
    EXPECT_FALSE(worker.try_need(Instant{0}));
  }
  worker.need(clock.now() + 1h);
  works.wait(0);
}

}  // namespace
}  // namespace airlock
