#include "airlock/composite_seal.hpp"
#include "airlock/cooldown_seal.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/multi_seal.hpp"
#include "airlock/rate_limiter_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "seal/support/seal_test.hpp"

// Several gates of one group, one step.

namespace airlock::seals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Rate kHourly{.count = 10, .period = 1h};

class GroupSealTest : public SealTest {
 protected:
  SemaphoreSeal read_{store(), "disk/read", {.limit = 2, .ttl = 10s}};
  SemaphoreSeal write_{store(), "disk/write", {.limit = 1, .ttl = 20s}};
  RateLimiterSeal limiter_{store(), "disk/ops", {kHourly}};
  GroupSeal copy_{{read_, write_, limiter_}};
};

TEST_P(GroupSealTest, TakesAllGatesInOneStep) {
  const Admissions held = granted(copy_.try_acquire(3, named("ann")));
  EXPECT_EQ(store().calls(), 1U);
  ASSERT_EQ(held.size(), 3U);
  EXPECT_EQ(held[0].token.gate, GateName("disk/read"));
  EXPECT_EQ(held[1].token.gate, GateName("disk/write"));
  EXPECT_EQ(held[2].rate.remaining, 7U);
  EXPECT_TRUE(copy_.is_acquired(held));
  EXPECT_LASTS(copy_.remaining_lifetime(held), 9'900ms);
  EXPECT_EQ(store().look("disk/read")->holders.at(0).hold, Hold::detached);
}

TEST_P(GroupSealTest, TakesNothingWhenOneGateIsFull) {
  const Token obstacle = granted(write_.try_acquire()).token;
  after(5s);
  for (int i = 0; i < 3; ++i)
    EXPECT_LASTS(refused(copy_.try_acquire(), Reason::full).retry_after, 15s);
  EXPECT_THAT(holders("disk/read"), IsEmpty());
  EXPECT_EQ(remaining("disk/ops", kHourly), 10U);
  write_.release(obstacle);
  granted(copy_.try_acquire());
}

TEST_P(GroupSealTest, TakesNothingWhenATierRefuses) {
  granted(limiter_.try_acquire(10));
  const Refused refusal = refused(copy_.try_acquire(), Reason::rate);
  EXPECT_LASTS(refusal.retry_after, 6min);
  EXPECT_EQ(copy_.parts().at(refusal.at).gate(), limiter_.gate());
  EXPECT_THAT(holders("disk/read"), IsEmpty());
  EXPECT_THAT(holders("disk/write"), IsEmpty());
}

TEST_P(GroupSealTest, LeavesNothingBehindWhenTheStoreFails) {
  store().fail_next(1, StoreError::Kind::unavailable);
  EXPECT_TRUE(cause_of<SealAcquiringError>([&] { (void)copy_.try_acquire(); }));
  EXPECT_THAT(holders("disk/read"), IsEmpty());
  EXPECT_THAT(holders("disk/write"), IsEmpty());
}

TEST_P(GroupSealTest, FindsTheFirstAnswerWhenItWasLost) {
  const GroupSeal locks({read_, write_});
  store().drop_reply_next(1);
  EXPECT_THROW((void)locks.try_acquire(1, named("ann")), SealAcquiringError);
  const Admissions held = granted(locks.try_acquire(1, named("ann")));
  EXPECT_TRUE(held.at(0).repeated && held.at(1).repeated);
  EXPECT_THAT(holders("disk/read"), ElementsAre("ann"));
}

TEST_P(GroupSealTest, GivesAllBack) {
  const Admissions held = granted(copy_.try_acquire());
  copy_.release(held);
  EXPECT_THAT(holders("disk/read"), IsEmpty());
  EXPECT_THAT(holders("disk/write"), IsEmpty());
  EXPECT_EQ(remaining("disk/ops", kHourly), 9U);
  EXPECT_FALSE(copy_.is_acquired(held));
  EXPECT_THROW(copy_.release(held), SealReleasingError);
}

TEST_P(GroupSealTest, GivesTheRestBackWhenOneIsGone) {
  const Admissions held = granted(copy_.try_acquire());
  after(10s);  // The end of the first.
  const auto error = thrown_by<SealReleasingError>([&] { copy_.release(held); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("disk/read"));
  EXPECT_THAT(holders("disk/write"), IsEmpty());
}

TEST_P(GroupSealTest, IsRenewedInOneCall) {
  Admissions held = granted(copy_.try_acquire());
  after(5s);
  copy_.renew(held);
  EXPECT_EQ(store().calls("renew"), 1U);
  EXPECT_LASTS(held[0].expires_in, 10s);
  EXPECT_LASTS(held[1].expires_in, 20s);
  after(9s);
  EXPECT_TRUE(copy_.is_acquired(held));
}

TEST_P(GroupSealTest, SaysWhenOneCannotBeRenewedAndRenewsTheRest) {
  Admissions held = granted(copy_.try_acquire());
  after(15s);
  const auto error = thrown_by<LeaseExpiredError>([&] { copy_.renew(held); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("disk/read"));
  EXPECT_LASTS(store().look("disk/write")->holders.at(0).remaining, 20s);
  EXPECT_TRUE(copy_.is_expired(held));
}

TEST_P(GroupSealTest, MayHaveCompositesLocksAndCooldowns) {
  const GroupSeal group({CompositeSeal(read_, {kHourly}),
                         LockSeal(store(), "disk/lock", {.readers = 5}),
                         CooldownSeal(store(), "disk/cooldown", 30s)});
  const Admissions held = granted(group.try_acquire());
  EXPECT_EQ(remaining("disk/read", kHourly), 9U);
  EXPECT_EQ(store().look("disk/lock")->counts.in_use, 5U);
  group.release(held);
  EXPECT_LASTS(refused(group.try_acquire(), Reason::full).retry_after, 30s);
}

TEST_P(GroupSealTest, AWrongConfigurationShowsWhenTheSealIsMade) {
  Bench other(GetParam());
  EXPECT_THROW(GroupSeal({}), InvalidArgument);
  EXPECT_THROW(GroupSeal({read_, read_}), InvalidArgument);
  const RateLimiterSeal deduped(store(), "disk/ops", {kHourly}, 1min);
  EXPECT_THROW(GroupSeal({read_, deduped}), InvalidArgument);
  EXPECT_THROW(GroupSeal({read_, SemaphoreSeal(store(), "net/write", {.limit = 1})}),
               InvalidArgument);
  EXPECT_THROW(GroupSeal({read_, SemaphoreSeal(other.store(), "disk/write", {.limit = 1})}),
               InvalidArgument);
  EXPECT_EQ(store().calls(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Stores, GroupSealTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

}  // namespace
}  // namespace airlock::seals
