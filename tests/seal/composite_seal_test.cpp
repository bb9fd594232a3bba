#include "airlock/composite_seal.hpp"

#include "airlock/cooldown_seal.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/rate_limiter_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "seal/support/seal_test.hpp"

// A lock and another seal, in one step or in turn. What composites have in common with locks is in
// locking_seal_test.cpp.

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
  EXPECT_EQ(store().calls(), 1U);
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
  store().fail_next(1, StoreError::Kind::unavailable);
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
  store().set_limit("lock", 1'000);
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
  EXPECT_EQ(store().calls(), 0U);
}

// --- another gate of the same group ---

class CompositeOfAGroupTest : public SealTest {
 protected:
  SemaphoreSeal slots_{store(), "vendor/slots", {.limit = 2, .ttl = 10s}};
  RateLimiterSeal limiter_{store(), "vendor/calls", {kHourly}};
  CompositeSeal vendor_ = CompositeSeal::atomic(slots_, limiter_);
};

TEST_P(CompositeOfAGroupTest, IsDecidedInOneStep) {
  EXPECT_TRUE(vendor_.is_atomic());
  const Admission held = granted(vendor_.try_acquire(3, named("ann")));
  EXPECT_EQ(store().calls(), 1U);
  EXPECT_EQ(held.token.gate, slots_.gate());
  EXPECT_EQ(held.rate.remaining, 7U);
  EXPECT_THAT(holders("vendor/slots"), ElementsAre("ann"));
}

TEST_P(CompositeOfAGroupTest, TakesNothingWhenTheOtherRefuses) {
  granted(limiter_.try_acquire(10));
  EXPECT_LASTS(refused(vendor_.try_acquire(), Reason::rate).retry_after, 6min);
  EXPECT_THAT(holders("vendor/slots"), IsEmpty());
}

TEST_P(CompositeOfAGroupTest, TakesNoTokenWhenItIsFull) {
  granted(slots_.try_acquire());
  granted(slots_.try_acquire());
  refused(vendor_.try_acquire(), Reason::full);
  EXPECT_EQ(remaining("vendor/calls", kHourly), 10U);
}

TEST_P(CompositeOfAGroupTest, MayBeACooldown) {
  const CompositeSeal once =
      CompositeSeal::atomic(slots_, CooldownSeal(store(), "vendor/once", 1min));
  slots_.release(granted(once.try_acquire()).token);
  EXPECT_LASTS(refused(once.try_acquire(), Reason::full).retry_after, 1min);
  EXPECT_THROW((void)once.try_acquire(2), InvalidArgument) << "a cooldown takes no cost";
}

// --- one after another ---

class CompositeInTurnTest : public SealTest {
 protected:
  // A seal of the caller's own.
  struct OwnSeal : Seal {
    using Seal::try_acquire;
    [[nodiscard]] Outcome<Admission> try_acquire(const Visitor& who) const override {
      ++*asked;
      if (fails)
        throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::unknown, "it failed");
      if (refuses) return Refused{.reason = Reason::paused, .retry_after = 3s};
      return Admission{{.token = {.gate = "own", .visitor = who.id.value()}}};
    }

    std::shared_ptr<int> asked = std::make_shared<int>(0);
    bool refuses = false;
    bool fails = false;
  };

  SemaphoreSeal slots_{store(), "slots", {.limit = 2, .ttl = 10s}};
  OwnSeal own_;
};

TEST_P(CompositeInTurnTest, TakesASealOfAnyKind) {
  const CompositeSeal both(slots_, own_);
  EXPECT_FALSE(both.is_atomic());
  const Admission held = granted(both.try_acquire(named("ann")));
  EXPECT_EQ(held.token.gate, slots_.gate());
  EXPECT_EQ(*own_.asked, 1);
  both.release(held.token);
  EXPECT_THAT(holders("slots"), IsEmpty());
}

TEST_P(CompositeInTurnTest, DoesNotAskTheOtherWhenTheLockRefuses) {
  granted(slots_.try_acquire());
  granted(slots_.try_acquire());
  refused(CompositeSeal(slots_, own_).try_acquire(), Reason::full);
  EXPECT_EQ(*own_.asked, 0);
}

TEST_P(CompositeInTurnTest, GivesTheLockBackWhenTheOtherRefuses) {
  own_.refuses = true;
  EXPECT_LASTS(refused(CompositeSeal(slots_, own_).try_acquire(), Reason::paused).retry_after, 3s);
  EXPECT_THAT(holders("slots"), IsEmpty());
}

TEST_P(CompositeInTurnTest, GivesTheLockBackWhenTheOtherFails) {
  own_.fails = true;
  EXPECT_THROW((void)CompositeSeal(slots_, own_).try_acquire(), StoreError);
  EXPECT_THAT(holders("slots"), IsEmpty());
}

TEST_P(CompositeInTurnTest, LeavesTheLockToWhoHasItAlready) {
  granted(slots_.try_acquire(named("ann")));
  own_.refuses = true;
  refused(CompositeSeal(slots_, own_).try_acquire(named("ann")), Reason::paused);
  EXPECT_THAT(holders("slots"), ElementsAre("ann"));
}

TEST_P(CompositeInTurnTest, ChargesALimiterElsewhere) {
  const RateLimiterSeal limiter(store(), "elsewhere", {kHourly});
  const CompositeSeal both(slots_, limiter);
  EXPECT_FALSE(both.is_atomic()) << "another group";
  EXPECT_EQ(granted(both.try_acquire(4)).rate.remaining, 6U);
  refused(both.try_acquire(7), Reason::rate);
  EXPECT_EQ(store().look("slots")->counts.holders, 1U);
  EXPECT_THROW((void)CompositeSeal::atomic(slots_, limiter), InvalidArgument);
}

TEST_P(CompositeInTurnTest, IsNotMadeOfTwoLocks) {
  EXPECT_THROW(CompositeSeal(slots_, LockSeal(store(), "lock")), InvalidArgument);
  EXPECT_THROW(CompositeSeal(slots_, CooldownSeal(store(), "slots", 1s)), InvalidArgument);
  EXPECT_EQ(store().calls(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Stores, CompositeOfAGroupTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, CompositeInTurnTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, CompositeSealTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

}  // namespace
}  // namespace airlock::seals
