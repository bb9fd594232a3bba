#include "airlock/composite_seal.hpp"

#include "airlock/lock_seal.hpp"
#include "airlock/rate_limiter_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "seal/support/seal_test.hpp"

// One gate, one step. What composites have in common with locks is in locking_seal_test.cpp.

namespace airlock::seals {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Rate kHourly{.count = 10, .period = 1h};
const Rate kDaily{.count = 20, .period = 24h};

class CompositeSealTest : public SealTest {
 protected:
  CompositeSeal vendor_{SemaphoreSeal(store(), "vendor", {.limit = 2, .ttl = 10s}),
                        {kHourly, kDaily}};
};

TEST_P(CompositeSealTest, TakesASlotAndATokenOfEachTierInOneCall) {  // 15
  const Admission held = granted(vendor_.try_acquire());
  EXPECT_EQ(store()->calls(), 1U);
  EXPECT_GT(held.token.fence, 0U);
  EXPECT_EQ(held.taken, 1U);
  EXPECT_EQ(held.rate.remaining, 9U);
  EXPECT_TRUE(vendor_.is_acquired(held.token));
  EXPECT_EQ(remaining("vendor", kHourly), 9U);
  EXPECT_EQ(remaining("vendor", kDaily), 19U);
}

TEST_P(CompositeSealTest, TakesNoTokenWhenItIsFull) {  // 15
  granted(vendor_.try_acquire());
  granted(vendor_.try_acquire());
  for (int i = 0; i < 20; ++i) refused(vendor_.try_acquire(), Reason::full);
  EXPECT_EQ(remaining("vendor", kHourly), 8U);
  EXPECT_EQ(remaining("vendor", kDaily), 18U);
}

TEST_P(CompositeSealTest, TakesNoSlotAndNoOtherTokenWhenATierRefuses) {  // 15
  granted(vendor_.try_acquire(10, named("ann")));
  for (int i = 0; i < 20; ++i) {
    EXPECT_LASTS(refused(vendor_.try_acquire(), Reason::rate).retry_after, 6min);
  }
  EXPECT_EQ(remaining("vendor", kDaily), 10U);
  EXPECT_THAT(holders("vendor"), ElementsAre("ann"));
  granted(SemaphoreSeal(store(), "vendor", {.limit = 2}).try_acquire());
}

TEST_P(CompositeSealTest, GivesOnlyTheSlotBack) {  // 15
  const Admission held = granted(vendor_.try_acquire(4));
  vendor_.release(held.token);
  EXPECT_THAT(holders("vendor"), IsEmpty());
  EXPECT_EQ(remaining("vendor", kHourly), 6U);
}

TEST_P(CompositeSealTest, IsRenewedForNothing) {
  Admission held = granted(vendor_.try_acquire());
  vendor_.renew(held, 60s);
  EXPECT_TRUE(vendor_.is_acquired(held.token));
  EXPECT_EQ(remaining("vendor", kHourly), 9U);
}

TEST_P(CompositeSealTest, ChargesAVisitorOnce) {  // 104
  granted(vendor_.try_acquire(1, named("ann")));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(granted(vendor_.try_acquire(1, named("ann"))).repeated);
  EXPECT_EQ(remaining("vendor", kHourly), 9U);
}

TEST_P(CompositeSealTest, LeavesNothingBehindWhenTheStoreFails) {  // 97
  store()->fail_next(1, StoreError::Kind::unavailable);
  EXPECT_TRUE(cause_of<SealAcquiringError>([&] { (void)vendor_.try_acquire(); }));
  EXPECT_THAT(holders("vendor"), IsEmpty());
  EXPECT_EQ(remaining("vendor", kHourly), 10U);
}

TEST_P(CompositeSealTest, AnswersACostAboveTheBurstWithNever) {
  refused(vendor_.try_acquire(11), Reason::never);
  EXPECT_THAT(holders("vendor"), IsEmpty());
}

TEST_P(CompositeSealTest, SharesItsTiersWithALimiterOfTheGate) {
  granted(vendor_.try_acquire(3));
  EXPECT_EQ(granted(RateLimiterSeal(store(), "vendor", {kHourly}).peek()).rate.remaining, 7U);
}

TEST_P(CompositeSealTest, IsALockWhereTheLockIsOne) {
  const CompositeSeal lock(LockSeal(store(), "lock", {.readers = 100}), {kHourly});
  granted(lock.try_acquire());
  store()->set_limit("lock", 1'000);
  refused(lock.try_acquire(), Reason::full);
}

TEST_P(CompositeSealTest, AddsTiersToAComposite) {
  const CompositeSeal more(vendor_, {Rate::parse("1/m")});
  granted(more.try_acquire());
  EXPECT_LASTS(refused(more.try_acquire(), Reason::rate).retry_after, 1min);
  granted(vendor_.try_acquire());
}

TEST_P(CompositeSealTest, AWrongConfigurationShowsWhenTheSealIsMade) {
  const SemaphoreSeal slots(store(), "gate", {.limit = 1});
  EXPECT_THROW(CompositeSeal(slots, {Rate{.count = 0, .period = 1s}}), InvalidArgument);
  EXPECT_THROW(CompositeSeal(vendor_, std::vector<Rate>(kMaxRates - 1, Rate::parse("unlimited"))),
               InvalidArgument);
  EXPECT_EQ(store()->calls(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Stores, CompositeSealTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

}  // namespace
}  // namespace airlock::seals
