#include "airlock/observer.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

#include "admission/support/log.hpp"
#include "admission/support/waiting_test.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "support/hooked_store.hpp"
#include "support/turnstile.hpp"

// What is told, and what those who are told may do: throw, take long, come back in.

namespace airlock {
namespace {

using Kind = Event::Kind;
using ::testing::ElementsAre;

constexpr const char* kGate = "erp";

struct Does : Observer {
  explicit Does(std::function<void(const Event&)> what) : what_(std::move(what)) {}
  void on(const Event& event) override { what_(event); }

 private:
  std::function<void(const Event&)> what_;
};

class ObserverTest : public WaitingTest {
 protected:
  [[nodiscard]] std::shared_ptr<Does> does(std::function<void(const Event&)> what) {
    return std::make_shared<Does>(std::move(what));
  }

  std::shared_ptr<Log> log_ = std::make_shared<Log>();
};

TEST_P(ObserverTest, MayBeAPlainCallable) {
  std::vector<Kind> heard;
  const Airlock erp(store_, kGate, {.limit = 1, .observer = [&](const Event& event) {
                                      heard.push_back(event.kind);
                                    }});
  const Outcome<Lease> first = erp.try_enter();
  const Outcome<Lease> second = erp.try_enter();
  EXPECT_THAT(heard, ElementsAre(Kind::granted, Kind::refused));
}

TEST_P(ObserverTest, HearsOfAWaitFromBeginningToEnd) {
  const Airlock erp(store_, kGate, {.limit = 1, .max_wait = 1h, .observer = log_});
  Outcome<Lease> holder = erp.try_enter();
  Place first = erp.join();
  Place second = erp.join_for(5s);
  pass(5s, 2 + asking_threads());  // airlock-keep and airlock-enter
  EXPECT_FALSE(second.wait());
  holder->release();
  EXPECT_TRUE(first.wait());
  EXPECT_THAT(log_->kinds(),
              ElementsAre(Kind::granted, Kind::queued, Kind::queued, Kind::refused, Kind::granted));
  const auto lines = log_->lines();
  EXPECT_EQ(lines[1].position, 1U);
  EXPECT_EQ(lines[2].position, 2U);
  EXPECT_EQ(lines[3].reason, Reason::late);
  EXPECT_EQ(lines[3].waited, 5s);
  EXPECT_EQ(lines[4].gate, kGate);
}

TEST_P(ObserverTest, HearsOnceThatALeaseIsLost) {
  const Airlock erp(store_, kGate, {.limit = 1, .ttl = 30s, .observer = log_});
  const Outcome<Lease> lease = erp.try_enter();
  const std::stop_token lost = lease->lost();
  store_.revoke(kGate, {}, Revoke::graceful);
  ASSERT_TRUE(eventually([&] { return log_->last().kind == Kind::lost; }));
  EXPECT_EQ(log_->last().gate, kGate);
  EXPECT_TRUE(lost.stop_requested());
  pass(60s, 2);  // airlock-keep and airlock-alarm
  EXPECT_THAT(log_->kinds(), ElementsAre(Kind::granted, Kind::lost));
}

TEST_P(ObserverTest, HearsOnceThoughARenewalIsRefusedAfterTheAlarm) {
  Turnstile turnstile;
  const HookedStore slow(store_, [&](std::string_view step) {
    if (step == "renew") turnstile.pass();
  });
  const Airlock erp(slow, kGate, {.limit = 1, .ttl = 30s, .observer = log_});
  const Outcome<Lease> lease = erp.try_enter();
  const std::stop_token lost = lease->lost();
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 2; }));
  clock_.advance(10s);
  turnstile.await_somebody();
  clock_.advance(20s);
  ASSERT_TRUE(eventually([&] { return log_->last().kind == Kind::lost; }));
  turnstile.open();
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 2; }));
  clock_.advance(1s);
  EXPECT_THAT(log_->kinds(), ElementsAre(Kind::granted, Kind::lost));
}

TEST_P(ObserverTest, HearsOfALossAlsoWhereNobodyAskedForIt) {
  const Airlock erp(store_, kGate, {.limit = 1, .ttl = 30s, .observer = log_});
  const Outcome<Lease> lease = erp.try_enter();
  store_.down(true);
  pass(31s);
  EXPECT_TRUE(eventually([&] { return log_->last().kind == Kind::lost; }));
}

TEST_P(ObserverTest, HearsOfALossBeforeItsTimeWhenARenewalIsRefused) {
  const Airlock erp(store_, kGate, {.limit = 1, .ttl = 30s, .observer = log_});
  const Outcome<Lease> lease = erp.try_enter();
  ASSERT_TRUE(store_.lose(lease->token()));
  pass(10s);
  EXPECT_TRUE(eventually([&] { return log_->last().kind == Kind::lost; }));
}

TEST_P(ObserverTest, HearsThatMaxHoldHasEnded) {
  const Airlock erp(store_, kGate, {.limit = 1, .ttl = 30s, .max_hold = 40s, .observer = log_});
  const Outcome<Lease> lease = erp.try_enter();
  pass(39s);
  EXPECT_THAT(log_->kinds(), ElementsAre(Kind::granted));
  pass(1s);
  EXPECT_TRUE(eventually([&] { return log_->last().kind == Kind::lost; }));
}

TEST_P(ObserverTest, HearsNothingOfALeaseThatWasGivenBack) {
  const Airlock erp(store_, kGate, {.limit = 1, .ttl = 30s, .observer = log_});
  Outcome<Lease> lease = erp.try_enter();
  const Outcome<Lease> other = Airlock(store_, "other", {.limit = 1}).try_enter();
  lease->release();
  pass(60s);
  EXPECT_THAT(log_->kinds(), ElementsAre(Kind::granted));
}

TEST_P(ObserverTest, HearsWhichGateWasNotGivenBack) {
  const KeyedBulkhead tenants(store_, "vendor", {.limit = 1, .observer = log_});
  tenants.call("acme", [&] { store_.fail_next(1, StoreError::Kind::busy); });
  EXPECT_THAT(log_->kinds(), ElementsAre(Kind::granted, Kind::release_failed));
  EXPECT_EQ(log_->last().gate, tenants.gate("acme").text());
}

TEST_P(ObserverTest, HearsWhatAnOutagePolicyDoes) {
  const Airlock closed(store_, "closed", {.limit = 1, .observer = log_});
  const Airlock open(store_, "open", {.limit = 1, .outage = Outage::open, .observer = log_});
  const Airlock local(store_, "local",
                      {.limit = 9, .outage = Outage::local, .local_limit = 1, .observer = log_});
  store_.down(true);
  EXPECT_THROW((void)closed.enter(), SealAcquiringError);
  EXPECT_EQ(log_->last().kind, Kind::failed);
  EXPECT_TRUE(open.enter());
  EXPECT_EQ(log_->last().kind, Kind::let_past);
  {
    const Outcome<Lease> one = local.enter();
    EXPECT_EQ(log_->last().kind, Kind::let_past);
    EXPECT_EQ(log_->last().gate, "local");
    EXPECT_FALSE(local.enter());
    EXPECT_EQ(log_->last().kind, Kind::refused);
    EXPECT_EQ(log_->last().reason, Reason::full);
  }
  EXPECT_TRUE(local.enter()) << "what was let past was given back";
}

// --- one that throws ---

TEST_P(ObserverTest, MayThrowWheneverItIsTold) {
  const auto thrower = does([](const Event&) { throw std::runtime_error("not my day"); });
  const std::uint64_t before = observer_failures();
  const Bulkhead erp(store_, kGate, {.limit = 1, .max_wait = 1h, .observer = thrower});
  {
    const Lease lease = erp.acquire();  // granted
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(erp.try_acquire_for(1h, {.stop = stop.get_token()}));  // queued, refused
    const std::stop_token lost = lease.lost();
    store_.revoke(kGate, {}, Revoke::now);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_TRUE(eventually([&] { return observer_failures() == before + 4; }));  // lost
  }
  erp.call([&] { store_.fail_next(1, StoreError::Kind::busy); });  // granted, release_failed
  EXPECT_EQ(observer_failures(), before + 6);
  EXPECT_EQ(waiting(kGate), 0U);
}

// --- one that takes long ---

TEST_P(ObserverTest, MayTakeLongAndOtherLeasesAreStillRenewed) {
  Turnstile turnstile;
  const auto slow = does([&](const Event& event) {
    if (event.kind == Kind::lost) turnstile.pass();
  });
  const Airlock erp(store_, kGate, {.limit = 2, .ttl = 30s, .observer = slow});
  const Outcome<Lease> lost = erp.try_enter();
  const Outcome<Lease> kept = erp.try_enter();
  const std::stop_token token = lost->lost();
  store_.revoke(kGate, lost->token().visitor, Revoke::graceful);
  turnstile.await_somebody();
  EXPECT_TRUE(token.stop_requested()) << "who has it was told first";
  pass(90s);
  EXPECT_TRUE(kept->valid());
  EXPECT_EQ(holders(kGate), 1U);
  turnstile.open();
}

TEST_P(ObserverTest, AStopCallbackMayTakeLongAndOtherLeasesAreStillRenewed) {
  const Airlock erp(store_, kGate, {.limit = 2, .ttl = 30s});
  const Outcome<Lease> lost = erp.try_enter();
  const Outcome<Lease> kept = erp.try_enter();
  Turnstile turnstile;
  const std::stop_callback on_lost(lost->lost(), [&] { turnstile.pass(); });
  store_.revoke(kGate, lost->token().visitor, Revoke::graceful);
  turnstile.await_somebody();
  pass(90s);
  EXPECT_TRUE(kept->valid());
  turnstile.open();
}

TEST_P(ObserverTest, ACallbackMayTakeLongAndOthersStillEnter) {
  const Airlock erp(store_, kGate, {.limit = 2, .ttl = 30s, .max_wait = 1h});
  Turnstile turnstile;
  erp.enter_async({}, [&](Arrival& arrival) {
    const Outcome<Lease> lease = arrival.take();
    turnstile.pass();
  });
  turnstile.await_somebody();
  const Outcome<Lease> other = erp.enter();
  EXPECT_TRUE(other);
  pass(90s, 1 + asking_threads());  // airlock-keep
  EXPECT_TRUE(other->valid());
  EXPECT_EQ(holders(kGate), 2U) << "the one of the callback is kept, too";
  turnstile.open();
}

// --- one that comes back in ---

TEST_P(ObserverTest, MayEnterAndLookWhileItIsTold) {
  std::optional<Airlock> erp;
  int depth = 0;
  const auto again = does([&](const Event& event) {
    if (event.kind != Kind::granted || ++depth > 3) return;
    const Outcome<Lease> inner = erp->try_enter();
    EXPECT_TRUE(inner);
    EXPECT_GE(holders(kGate), 2U);
  });
  erp.emplace(store_, kGate, AirlockOptions{.limit = 9, .observer = again});
  const Outcome<Lease> lease = erp->enter();
  EXPECT_EQ(depth, 4);
  EXPECT_TRUE(is_left_with(1, kGate));
}

TEST_P(ObserverTest, MayGiveBackWhatWasLostAndEnterAgain) {
  std::optional<Lease> lease;
  std::optional<Airlock> erp;
  std::atomic<bool> again = false;
  const auto revive = does([&](const Event& event) {
    if (event.kind != Kind::lost) return;
    lease.reset();
    EXPECT_TRUE(store_.flush(1min));
    lease = erp->try_enter().value();
    again = true;
  });
  erp.emplace(store_, kGate, AirlockOptions{.limit = 1, .observer = revive});
  lease = erp->try_enter().value();
  (void)lease->lost();
  store_.revoke(kGate, {}, Revoke::graceful);
  ASSERT_TRUE(eventually([&] { return again.load(); }));
  EXPECT_TRUE(lease->valid());
}

TEST_P(ObserverTest, AStopCallbackMayAskTheLeaseAndEnterAgain) {
  const Airlock erp(store_, kGate, {.limit = 1});
  std::optional<Lease> lease = erp.try_enter().value();
  std::atomic<bool> again = false;
  const std::stop_callback on_lost(lease->lost(), [&] {
    EXPECT_FALSE(lease->valid());
    EXPECT_TRUE(lease->lost().stop_requested());
    EXPECT_NO_THROW(lease->release()) << "within its grace it is still there";
    lease = erp.try_enter().value();
    again = lease->valid();
  });
  store_.revoke(kGate, {}, Revoke::graceful);
  EXPECT_TRUE(eventually([&] { return again.load(); }));
}

TEST_P(ObserverTest, ACallbackMayStopAnother) {
  const Airlock erp(store_, kGate, {.limit = 1, .max_wait = 1h});
  Outcome<Lease> holder = erp.try_enter();
  std::stop_source stop;
  std::atomic<int> decided = 0;
  erp.enter_async({}, [&](Arrival& arrival) {
    const Outcome<Lease> lease = arrival.take();
    stop.request_stop();
    ++decided;
  });
  erp.enter_async({.stop = stop.get_token()}, [&](Arrival& arrival) {
    (void)arrival.take();  // Refused, unless the first one was out so soon that it is in.
    ++decided;
  });
  holder->release();
  EXPECT_TRUE(
      eventually([&] { return decided == 2 && holders(kGate) == 0 && waiting(kGate) == 0; }));
  EXPECT_TRUE(stop.stop_requested());
}

TEST_P(ObserverTest, WhatACallbackInAMailboxThrowsPassesAndTheRestWaitsOn) {
  const Airlock erp(store_, kGate, {.limit = 9});
  Mailbox mailbox;
  std::atomic<int> ran = 0;
  erp.enter_async(
      {}, [](Arrival&) { throw std::runtime_error("not my day"); }, mailbox);
  erp.enter_async(
      {}, [&](Arrival&) { ++ran; }, mailbox);
  std::size_t thrown = 0;
  EXPECT_TRUE(eventually([&] {
    try {
      mailbox.run();
    } catch (const std::runtime_error&) {
      ++thrown;
    }
    return ran == 1;
  }));
  EXPECT_EQ(thrown, 1U);
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(ObserverTest, WhatAMailboxDidNotRunIsGivenBack) {
  const Airlock erp(store_, kGate, {.limit = 1});
  bool ran = false;
  {
    Mailbox mailbox;
    erp.enter_async(
        {}, [&](Arrival&) { ran = true; }, mailbox);
    EXPECT_TRUE(eventually([&] { return holders(kGate) == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return holders(kGate) == 0; }));
  EXPECT_FALSE(ran);
}

AIRLOCK_WAITING_SUITE(ObserverTest);

}  // namespace
}  // namespace airlock
