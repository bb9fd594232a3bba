#include "airlock/semaphore_seal.hpp"

#include "seal/support/seal_test.hpp"

// Limits and weights; what semaphores have in common with other seals is in locking_seal_test.cpp.

namespace airlock::seals {
namespace {

using ::testing::ElementsAre;

class SemaphoreSealTest : public SealTest {};

TEST_P(SemaphoreSealTest, AdmitsAsManyAsTheLimit) {  // 1, 2
  const SemaphoreSeal two(store(), "two", {.limit = 2});
  const Token ann = granted(two.try_acquire()).token;
  const Token bob = granted(two.try_acquire()).token;
  refused(two.try_acquire(), Reason::full);
  EXPECT_TRUE(two.is_acquired(ann));
  EXPECT_TRUE(two.is_acquired(bob));
  two.release(ann);
  EXPECT_FALSE(two.is_acquired(ann));
  EXPECT_TRUE(two.is_acquired(bob));
  granted(two.try_acquire());
  refused(two.try_acquire(), Reason::full);
}

TEST_P(SemaphoreSealTest, CountsWeights) {  // 10
  const SemaphoreSeal four(store(), "four", {.limit = 4, .weight = 2});
  const Token ann = granted(four.try_acquire()).token;
  granted(four.try_acquire());
  refused(four.try_acquire(), Reason::full);
  four.release(ann);
  granted(four.try_acquire());
}

TEST_P(SemaphoreSealTest, SealsOfDifferentWeightShareOneLimit) {
  const SemaphoreSeal light(store(), "gate", {.limit = 4});
  const SemaphoreSeal heavy(store(), "gate", {.limit = 4, .weight = 3});
  granted(light.try_acquire());
  granted(heavy.try_acquire());
  refused(light.try_acquire(), Reason::full);
  EXPECT_EQ(store().look("gate")->counts.in_use, 4U);
  EXPECT_FALSE(store().look("gate")->limits_disagree);
}

TEST_P(SemaphoreSealTest, AWrongConfigurationShowsWhenTheSealIsMade) {  // 10
  EXPECT_THROW(SemaphoreSeal(store(), "gate", {}), InvalidArgument);
  EXPECT_THROW(SemaphoreSeal(store(), "gate", {.limit = kMaxLimit + 1}), InvalidArgument);
  EXPECT_THROW(SemaphoreSeal(store(), "gate", {.limit = 2, .weight = 3}), InvalidArgument);
  EXPECT_THROW(SemaphoreSeal(store(), "gate", {.limit = 2, .weight = 0}), InvalidArgument);
  EXPECT_EQ(store().calls(), 0U);
}

TEST_P(SemaphoreSealTest, TellsHoldersApartBySlot) {
  const SemaphoreSeal three(store(), "three", {.limit = 3});
  EXPECT_EQ(granted(three.try_acquire()).slot, Slot(0));
  const Admission one = granted(three.try_acquire());
  EXPECT_EQ(one.slot, Slot(1));
  EXPECT_EQ(granted(three.try_acquire()).slot, Slot(2));
  three.release(one.token);
  EXPECT_EQ(granted(three.try_acquire()).slot, Slot(1));
}

TEST_P(SemaphoreSealTest, AVisitorHasOneSlotHoweverOftenItAsks) {  // 104
  const SemaphoreSeal three(store(), "three", {.limit = 3});
  for (int i = 0; i < 5; ++i) granted(three.try_acquire(named("ann")));
  EXPECT_THAT(holders("three"), ElementsAre("ann"));
}

TEST_P(SemaphoreSealTest, EndsEachAdmissionByItsOwnTtl) {
  const SemaphoreSeal brief(store(), "gate", {.limit = 2, .ttl = 1s});
  const SemaphoreSeal lasting(store(), "gate", {.limit = 2, .ttl = 60s});
  const Token one = granted(lasting.try_acquire()).token;
  const Token other = granted(brief.try_acquire()).token;
  EXPECT_LASTS(refused(brief.try_acquire(), Reason::full).retry_after, 1s);
  after(1s);
  EXPECT_FALSE(brief.is_acquired(other));
  EXPECT_TRUE(lasting.is_acquired(one));
}

TEST_P(SemaphoreSealTest, AnOperatorMayRaiseAndLowerTheLimit) {
  const SemaphoreSeal one(store(), "gate", {.limit = 1});
  granted(one.try_acquire());
  refused(one.try_acquire(), Reason::full);
  store().set_limit("gate", 2);
  granted(one.try_acquire());
  refused(one.try_acquire(), Reason::full);
}

TEST_P(SemaphoreSealTest, ACallerWithALargerLimitIsShownToTheOperator) {  // 112
  granted(SemaphoreSeal(store(), "gate", {.limit = 1}).try_acquire());
  granted(SemaphoreSeal(store(), "gate", {.limit = 3}).try_acquire());
  EXPECT_TRUE(store().look("gate")->limits_disagree);
}

INSTANTIATE_TEST_SUITE_P(Stores, SemaphoreSealTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

}  // namespace
}  // namespace airlock::seals
