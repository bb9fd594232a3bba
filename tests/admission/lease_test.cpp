#include "airlock/lease.hpp"

#include <atomic>
#include <optional>
#include <thread>

#include "admission/support/waiting_test.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "support/hooked_store.hpp"
#include "support/turnstile.hpp"

namespace airlock {
namespace {

constexpr const char* kGate = "erp";

class LeaseTest : public WaitingTest {
 protected:
  Lease enter(const AirlockOptions& options = {.limit = 1, .ttl = 30s}) {
    Airlock airlock(store_, kGate, options);
    Outcome<Lease> lease = airlock.try_enter();
    EXPECT_TRUE(lease.has_value());
    return std::move(*lease);
  }
};

TEST_P(LeaseTest, AnEmptyOneDoesNothing) {
  Lease lease;
  EXPECT_FALSE(lease);
  EXPECT_FALSE(lease.valid());
  EXPECT_FALSE(lease.lost().stop_possible());
  EXPECT_NO_THROW(lease.release());
}

TEST_P(LeaseTest, KnowsItsTokenAndGivesBackOnScopeExit) {
  {
    const Lease lease = enter();
    EXPECT_TRUE(lease);
    EXPECT_TRUE(lease.valid());
    EXPECT_TRUE(lease.guarded());
    EXPECT_GT(lease.fence(), 0U);
    EXPECT_EQ(lease.slot(), 0U);
    EXPECT_EQ(lease.token().gate, GateName(kGate));
    EXPECT_EQ(holders(kGate), 1U);
  }
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, MovesWithoutGivingBack) {
  Lease first = enter();
  const Fence fence = first.fence();
  Lease second(std::move(first));
  EXPECT_EQ(second.fence(), fence);
  Lease third;
  third = std::move(second);
  EXPECT_EQ(third.fence(), fence);
  EXPECT_EQ(holders(kGate), 1U);
  third = Lease();
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, IsRenewedWellBeforeItEnds) {
  const Lease lease = enter();
  const std::stop_token lost = lease.lost();
  pass(120s, 2);  // airlock-keep and airlock-alarm
  EXPECT_TRUE(lease.valid());
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_EQ(holders(kGate), 1U);
  EXPECT_GE(store_.calls("renew"), 120U / 30 * 3 - 1);
  EXPECT_LE(store_.calls("renew"), 120U / 30 * 4);
}

TEST_P(LeaseTest, IsNotRenewedAfterItsRelease) {
  Lease lease = enter();
  lease.release();
  clock_.advance(60s);
  EXPECT_EQ(store_.calls("renew"), 0U);
}

TEST_P(LeaseTest, TheSecondReleaseDoesNothing) {
  Lease lease = enter();
  lease.release();
  EXPECT_FALSE(lease);
  EXPECT_NO_THROW(lease.release());
  EXPECT_EQ(store_.calls("release"), 1U);
}

TEST_P(LeaseTest, ReleasingALostOneSaysSo) {
  Lease lease = enter();
  ASSERT_TRUE(store_.lose(lease.token()));
  EXPECT_THROW(lease.release(), SealReleasingError);
  EXPECT_FALSE(lease);
}

TEST_P(LeaseTest, LostFiresBeforeTheStoreGivesTheSlotAwayWhenItCannotBeReached) {
  const Lease lease = enter();
  const std::stop_token lost = lease.lost();
  store_.down(true);
  clock_.advance(29s);
  EXPECT_TRUE(lease.valid());
  EXPECT_FALSE(lost.stop_requested());
  clock_.advance(800ms);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  store_.down(false);
  EXPECT_EQ(holders(kGate), 1U) << "the store has not given it away yet";
}

TEST_P(LeaseTest, LostFiresAtTheNextRenewalWhenThatIsRefused) {
  const Lease lease = enter();
  ASSERT_TRUE(store_.lose(lease.token()));
  clock_.advance(10s);
  const std::stop_token lost = lease.lost();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_FALSE(lease.valid());
}

TEST_P(LeaseTest, LostFiresAtOnceOnRevoke) {
  const Lease lease = enter();
  const std::stop_token lost = lease.lost();
  EXPECT_EQ(store_.revoke(kGate, {}, Revoke::graceful), 1U);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_EQ(holders(kGate), 1U) << "it may finish within its grace";
}

TEST_P(LeaseTest, LostFiresAtOnceIfItWasRevokedBeforeAnybodyAsked) {
  const Lease lease = enter();
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 1; }));
  EXPECT_EQ(store_.revoke(kGate, {}, Revoke::graceful), 1U);
  const std::stop_token lost = lease.lost();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
}

TEST_P(LeaseTest, ALostOneStaysLostWhenTheStoreComesBack) {
  const Lease lease = enter();
  store_.down(true);
  clock_.advance(29'900ms);
  EXPECT_FALSE(lease.valid());
  store_.down(false);
  clock_.advance(50ms);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(eventually([&] { return lease.lost().stop_requested(); }));
}

TEST_P(LeaseTest, SurvivesAShortOutage) {
  const Lease lease = enter();
  store_.fail_next(3, StoreError::Kind::busy);
  pass(60s);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(holders(kGate), 1U);
}

TEST_P(LeaseTest, AStopCallbackMayGiveTheLeaseBackAndEndTheKeeper) {
  auto lease = std::make_unique<Lease>(enter());
  std::atomic<bool> gone = false;
  const std::stop_callback on_lost(lease->lost(), [&] {
    lease.reset();
    gone = true;
  });
  store_.revoke(kGate, {}, Revoke::graceful);
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, RenewalEndsWithMaxHold) {
  const Lease lease = enter({.limit = 1, .ttl = 30s, .max_hold = 40s});
  const std::stop_token lost = lease.lost();
  pass(39s, 2);  // airlock-keep and airlock-alarm
  EXPECT_TRUE(lease.valid());
  clock_.advance(1s);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, NoRenewalReachesBeyondMaxHold) {
  const Lease lease = enter({.limit = 1, .ttl = 30s, .max_hold = 40s});
  const Instant end = clock_.now() + 40s;
  for (int i = 0; i < 39; ++i) {
    pass(1s);
    EXPECT_LE(clock_.now() + store_.look(kGate)->holders.front().remaining, end);
  }
  EXPECT_GE(store_.calls("renew"), 1U);
  EXPECT_LE(store_.calls("renew"), 2U) << "nor is there one that gains nothing";
  EXPECT_TRUE(lease.valid());
}

TEST_P(LeaseTest, ADetachedTokenOutlivesItAndIsAdopted) {
  Lease lease = enter();
  const Fence fence = lease.fence();
  const std::string text = lease.detach().text();
  EXPECT_FALSE(lease);
  EXPECT_EQ(holders(kGate), 1U);
  {
    const Lease adopted = Lease::adopt(store_, Token::parse(text), 30s);
    EXPECT_EQ(adopted.fence(), fence);
    pass(60s);
    EXPECT_TRUE(adopted.valid());
  }
  EXPECT_TRUE(is_left_with(0, kGate));
  EXPECT_THROW((void)Lease::adopt(store_, Token::parse(text)), LeaseExpiredError);
}

TEST_P(LeaseTest, TheDestructorDoesNotWaitForARemoteStore) {
  act_remote();
  const Airlock airlock(store_, "other", {.limit = 1});  // Not the last to use the store.
  auto lease = std::make_unique<Lease>(enter());
  store_.down(true);
  lease.reset();
  EXPECT_FALSE(store_.flush(0s));
  store_.down(false);
  const auto is_paid_in_time = [&] {
    clock_.advance(100ms);
    return store_.flush(0s);
  };
  EXPECT_TRUE(eventually(is_paid_in_time));
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, TheLastHandlePaysWhatIsOwed) {
  act_remote();
  { const Lease lease = enter(); }
  EXPECT_TRUE(eventually([&] { return holders(kGate) == 0; }));
}

TEST_P(LeaseTest, AFailedReleaseIsTriedAgain) {
  Airlock airlock(store_, kGate, {.limit = 1});
  Outcome<Lease> lease = airlock.try_enter();
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 1; }));  // The keeper sleeps.
  store_.fail_next(1, StoreError::Kind::busy);
  EXPECT_THROW(lease->release(), SealReleasingError);
  EXPECT_TRUE(store_.flush(10s));
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, EveryAccessorOfAnEmptyLeaseIsSafe) {
  Lease empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.fence(), 0U);
  EXPECT_EQ(empty.slot(), Slot{});
  EXPECT_FALSE(empty.guarded());
  EXPECT_FALSE(empty.valid());
  EXPECT_EQ(empty.remaining(), Duration(0));
  EXPECT_FALSE(empty.lost().stop_possible());
  EXPECT_THROW((void)empty.token(), InvalidArgument);
  EXPECT_THROW((void)empty.detach(), LeaseExpiredError);
  empty.release();
}

TEST_P(LeaseTest, DrainWaitsForTheLastLease) {
  Airlock airlock(store_, kGate, {.limit = 2});
  Outcome<Lease> lease = airlock.try_enter();
  store_.close();
  EXPECT_THROW((void)airlock.try_enter(), StoreError);
  EXPECT_FALSE(store_.drain(0s));
  std::jthread releaser([&] { lease->release(); });
  EXPECT_TRUE(store_.drain(3600s));
}

TEST_P(LeaseTest, DrainWaitsForTheReleaseItself) {
  Turnstile turnstile;
  const HookedStore slow(store_, [&](std::string_view step) {
    if (step == "release") turnstile.pass();
  });
  const Airlock airlock(slow, kGate, {.limit = 2});
  std::jthread releaser([lease = airlock.try_enter().value()]() mutable { lease.release(); });
  turnstile.await_somebody();
  EXPECT_FALSE(slow.drain(0s)) << "it is not back yet";
  turnstile.open();
  EXPECT_TRUE(slow.drain(3600s));
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, FlushWaitsForAPlaceThatIsBeingLeft) {
  Turnstile turnstile;
  const HookedStore slow(store_, [&](std::string_view step) {
    // Of a remote store it is left in the background, with what is to be released there.
    if (step == "leave" || step == "release") turnstile.pass();
  });
  const Airlock airlock(slow, kGate, {.limit = 1, .max_wait = 3600s});
  const Lease lease = airlock.try_enter().value();
  { const Place place = airlock.join(); }
  turnstile.await_somebody();
  EXPECT_FALSE(slow.flush(0s)) << "it is still in the line";
  turnstile.open();
  EXPECT_TRUE(slow.flush(3600s));
  EXPECT_TRUE(store_.look(kGate)->line.empty());
}

TEST_P(LeaseTest, WhatIsDrainedIsBackOrOwed) {
  act_remote();
  const Airlock airlock(store_, kGate, {.limit = 1});
  std::optional<Lease> lease = airlock.try_enter().value();
  store_.down(true);
  lease.reset();
  EXPECT_TRUE(store_.drain(0s));
  EXPECT_FALSE(store_.flush(0s)) << "it is queued";
  store_.down(false);
}

TEST_P(LeaseTest, WhatIsOwedIsGivenUpWhenItHasEndedByItself) {
  act_remote();
  const Airlock airlock(store_, kGate, {.limit = 1, .ttl = 5s});
  std::optional<Lease> lease = airlock.try_enter().value();
  store_.down(true);
  lease.reset();
  pass(6s);
  EXPECT_TRUE(eventually([&] { return store_.flush(0s); }));
}

TEST_P(LeaseTest, AStoreThatWasClosedBeforeAnythingUsedItIsClosed) {
  store_.close();
  const Airlock airlock(store_, kGate, {.limit = 1});
  EXPECT_THROW((void)airlock.try_enter(), StoreError);
  EXPECT_THROW((void)airlock.enter(), StoreError);
  EXPECT_THROW((void)airlock.join(), StoreError);
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, AClosedStoreStillKeepsAndTakesBack) {
  Lease lease = enter();
  store_.close();
  pass(60s);
  EXPECT_TRUE(lease.valid());
  lease.release();
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(LeaseTest, AnAlarmIsNotTakenForTheNextLeases) {
  const Airlock airlock(store_, kGate, {.limit = 1, .ttl = 10min});
  {
    const Lease first = enter();
    EXPECT_FALSE(first.lost().stop_requested());
  }
  ASSERT_TRUE(store_.flush(1min));
  const Lease next = airlock.try_enter().value();
  pass(60s, 2);  // airlock-keep and airlock-alarm: longer than the first would have lasted
  EXPECT_TRUE(next.valid());
}

TEST_P(LeaseTest, LostDoesNotFireForWhatIsBeingReleased) {
  Turnstile turnstile;
  const HookedStore slow(store_, [&](std::string_view step) {
    if (step == "release") turnstile.pass();
  });
  const Airlock airlock(slow, kGate, {.limit = 1, .ttl = 30s});
  Lease lease = airlock.try_enter().value();
  const std::stop_token lost = lease.lost();
  std::jthread releaser([&] { EXPECT_THROW(lease.release(), SealReleasingError); });
  turnstile.await_somebody();
  pass(60s, 2);  // airlock-keep and airlock-alarm
  EXPECT_FALSE(lost.stop_requested());
  turnstile.open();
}

TEST_P(LeaseTest, LostDoesNotFireForWhatIsBeingGivenBack) {
  Turnstile turnstile;
  const HookedStore slow(store_, [&](std::string_view step) {
    if (step == "release") turnstile.pass();
  });
  const Airlock airlock(slow, kGate, {.limit = 1, .ttl = 30s});
  std::optional<Lease> lease = airlock.try_enter().value();
  const std::stop_token lost = lease->lost();
  std::jthread dropped([&] { lease.reset(); });
  turnstile.await_somebody();
  pass(60s, 2);  // airlock-keep and airlock-alarm
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_EQ(store_.calls("renew"), 0U) << "nor is it renewed";
  turnstile.open();
}

TEST_P(LeaseTest, ARenewalThatIsAnsweredTooLateDoesNotBringItBack) {
  Turnstile turnstile;
  const HookedStore slow(store_, [&](std::string_view step) {
    if (step == "renew") turnstile.pass();
  });
  const Airlock airlock(slow, kGate, {.limit = 1, .ttl = 30s});
  const Lease lease = airlock.try_enter().value();
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 1; }));
  clock_.advance(10s);
  turnstile.await_somebody();
  clock_.advance(19'800ms);  // Not ended in the store, but nobody here could prove it.
  turnstile.open();
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 1; }));
  EXPECT_EQ(store_.calls("renew"), 1U);
  EXPECT_FALSE(lease.valid());
}

// A renewal that is on its way while the lease is given back, and the object is used by the next.
TEST_P(LeaseTest, ALateAnswerToARenewalIsNotTakenForTheNextLeases) {
  Turnstile turnstile;
  std::atomic<bool> slow_once = true;
  const HookedStore slow(store_, [&](std::string_view step) {
    if (step == "renew" && slow_once.exchange(false)) turnstile.pass();
  });
  const Airlock airlock(slow, kGate, {.limit = 1, .ttl = 30s});
  const Airlock other(slow, "other", {.limit = 1, .ttl = 3s});
  std::optional<Lease> first = airlock.try_enter().value();
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 1; }));
  clock_.advance(10s);
  turnstile.await_somebody();
  first.reset();
  const Lease next = other.try_enter().value();
  const std::stop_token lost = next.lost();
  turnstile.open();  // "gone", for the first.
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 2; }));
  EXPECT_TRUE(next.valid());
  EXPECT_LE(next.remaining(), 3s);
  EXPECT_FALSE(lost.stop_requested());
}

AIRLOCK_WAITING_SUITE(LeaseTest);

}  // namespace
}  // namespace airlock
