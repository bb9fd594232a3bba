#include "airlock/lease.hpp"

#include <thread>

#include "airlock/airlock.hpp"
#include "airlock/error.hpp"
#include "airlock/shutdown.hpp"
#include "airlock/support/waiting_test.hpp"

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
  EXPECT_EQ(holders(kGate), 0U);
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
  EXPECT_EQ(holders(kGate), 0U);
}

TEST_P(LeaseTest, IsRenewedWellBeforeItEnds) {
  const Lease lease = enter();
  const std::stop_token lost = lease.lost();
  pass(120s, 2);  // airlock-keep and airlock-alarm
  EXPECT_TRUE(lease.valid());
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_EQ(holders(kGate), 1U);
  EXPECT_GE(store_->calls("renew"), 120U / 30 * 3 - 1);
  EXPECT_LE(store_->calls("renew"), 120U / 30 * 4);
}

TEST_P(LeaseTest, IsNotRenewedAfterItsRelease) {
  Lease lease = enter();
  lease.release();
  clock_.advance(60s);
  EXPECT_EQ(store_->calls("renew"), 0U);
}

TEST_P(LeaseTest, TheSecondReleaseDoesNothing) {
  Lease lease = enter();
  lease.release();
  EXPECT_FALSE(lease);
  EXPECT_NO_THROW(lease.release());
  EXPECT_EQ(store_->calls("release"), 1U);
}

TEST_P(LeaseTest, ReleasingALostOneSaysSo) {
  Lease lease = enter();
  ASSERT_TRUE(store_->lose(lease.token()));
  EXPECT_THROW(lease.release(), SealReleasingError);
  EXPECT_FALSE(lease);
}

TEST_P(LeaseTest, LostFiresBeforeTheStoreGivesTheSlotAwayWhenItCannotBeReached) {
  const Lease lease = enter();
  const std::stop_token lost = lease.lost();
  store_->down(true);
  clock_.advance(29s);
  EXPECT_TRUE(lease.valid());
  EXPECT_FALSE(lost.stop_requested());
  clock_.advance(800ms);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  store_->down(false);
  EXPECT_EQ(holders(kGate), 1U) << "the store has not given it away yet";
}

TEST_P(LeaseTest, LostFiresAtTheNextRenewalWhenThatIsRefused) {
  const Lease lease = enter();
  ASSERT_TRUE(store_->lose(lease.token()));
  clock_.advance(10s);
  const std::stop_token lost = lease.lost();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_FALSE(lease.valid());
}

TEST_P(LeaseTest, LostFiresAtOnceOnRevoke) {
  const Lease lease = enter();
  const std::stop_token lost = lease.lost();
  EXPECT_EQ(store_->revoke(kGate, {}, Store::Revoke::graceful), 1U);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_EQ(holders(kGate), 1U) << "it may finish within its grace";
}

TEST_P(LeaseTest, ALostOneStaysLostWhenTheStoreComesBack) {
  const Lease lease = enter();
  store_->down(true);
  clock_.advance(29'900ms);
  EXPECT_FALSE(lease.valid());
  store_->down(false);
  clock_.advance(50ms);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(eventually([&] { return lease.lost().stop_requested(); }));
}

TEST_P(LeaseTest, SurvivesAShortOutage) {
  const Lease lease = enter();
  store_->fail_next(3, StoreError::Kind::busy);
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
  store_->revoke(kGate, {}, Store::Revoke::graceful);
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
  EXPECT_EQ(holders(kGate), 0U);
}

TEST_P(LeaseTest, RenewalEndsWithMaxHold) {
  const Lease lease = enter({.limit = 1, .ttl = 30s, .max_hold = 40s});
  const std::stop_token lost = lease.lost();
  pass(39s, 2);  // airlock-keep and airlock-alarm
  EXPECT_TRUE(lease.valid());
  clock_.advance(1s);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_EQ(holders(kGate), 0U);
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
  EXPECT_EQ(holders(kGate), 0U);
  EXPECT_THROW((void)Lease::adopt(store_, Token::parse(text)), LeaseExpiredError);
}

TEST_P(LeaseTest, TheDestructorDoesNotWaitForARemoteStore) {
  act_remote();
  const Airlock airlock(store_, "other", {.limit = 1});  // Not the last to use the store.
  auto lease = std::make_unique<Lease>(enter());
  store_->down(true);
  lease.reset();
  EXPECT_FALSE(flush(store_, 0s));
  store_->down(false);
  const auto is_paid_in_time = [&] {
    clock_.advance(100ms);
    return flush(store_, 0s);
  };
  EXPECT_TRUE(eventually(is_paid_in_time));
  EXPECT_EQ(holders(kGate), 0U);
}

TEST_P(LeaseTest, TheLastHandlePaysWhatIsOwed) {
  act_remote();
  { const Lease lease = enter(); }
  EXPECT_TRUE(eventually([&] { return holders(kGate) == 0; }));
}

TEST_P(LeaseTest, AFailedReleaseIsTriedAgain) {
  Airlock airlock(store_, kGate, {.limit = 1});
  Outcome<Lease> lease = airlock.try_enter();
  store_->fail_next(1, StoreError::Kind::busy);
  EXPECT_THROW(lease->release(), SealReleasingError);
  EXPECT_TRUE(flush(store_, 10s));
  EXPECT_EQ(holders(kGate), 0U);
}

TEST_P(LeaseTest, DrainWaitsForTheLastLease) {
  Airlock airlock(store_, kGate, {.limit = 2});
  Outcome<Lease> lease = airlock.try_enter();
  close(store_);
  EXPECT_THROW((void)airlock.try_enter(), StoreError);
  EXPECT_FALSE(drain(store_, 0s));
  std::jthread releaser([&] { lease->release(); });
  EXPECT_TRUE(drain(store_, 3600s));
}

AIRLOCK_WAITING_SUITE(LeaseTest);

}  // namespace
}  // namespace airlock
