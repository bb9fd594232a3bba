#include "contract/support/store_contract.hpp"

// Law 4, its second half: a waiter that cannot be reached is absent. And what a waiter is told.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AbsentWaiters : public StoreContract {
 protected:
  // The gate is free again, and `name` is absent: it was handed the slot and did not come.
  void misses_its_turn(std::string_view name) {
    const Token holder = enters("holder").token;
    waits(name);
    EXPECT_TRUE(releases(holder));
    after(1s);
  }
};

TEST_P(AbsentWaiters, KeepTheirPlace) {
  misses_its_turn("bob");
  ASSERT_THAT(line(), ElementsAre("bob"));
  EXPECT_FALSE(look().line.at(0).present);
  EXPECT_EQ(look().counts.in_use, 0U);
}

TEST_P(AbsentWaiters, DoNotKeepANewcomerOut) {
  misses_its_turn("bob");
  enters("cid");
  EXPECT_THAT(line(), ElementsAre("bob"));
}

TEST_P(AbsentWaiters, DoNotKeepANewcomerWaiting) {
  misses_its_turn("bob");
  enters(visitor("cid").joins());
}

TEST_P(AbsentWaiters, EnterAtOnceWhenTheyAskAndThereIsRoom) {
  misses_its_turn("bob");
  enters("bob");
  EXPECT_THAT(line(), IsEmpty());
}

TEST_P(AbsentWaiters, AreFirstAgainAsSoonAsTheyAsk) {
  misses_its_turn("bob");
  const Token cid = enters("cid").token;
  EXPECT_EQ(waits("dan").position, 1U);
  EXPECT_EQ(waits("bob").position, 1U);
  EXPECT_EQ(waits("dan").position, 2U);
  EXPECT_TRUE(look().line.at(0).present);
  EXPECT_TRUE(releases(cid));
  EXPECT_THAT(handed(), ElementsAre("bob"));
}

TEST_P(AbsentWaiters, ArePassedOverWhileTheyDoNotAsk) {
  misses_its_turn("bob");
  const Token cid = enters("cid").token;
  waits("dan");
  EXPECT_TRUE(releases(cid));
  EXPECT_THAT(handed(), ElementsAre("dan"));
  EXPECT_THAT(line(), ElementsAre("bob"));
}

TEST_P(AbsentWaiters, AreNotHandedASecondSlotUnasked) {
  misses_its_turn("bob");
  const Token cid = enters("cid").token;
  EXPECT_TRUE(releases(cid));
  EXPECT_THAT(handed(), IsEmpty());
}

TEST_P(AbsentWaiters, CountAsWaitingButNotAsAhead) {
  misses_its_turn("bob");
  enters("cid");
  const Queued dan = waits("dan");
  EXPECT_EQ(dan.position, 1U);
  EXPECT_EQ(dan.waiting, 2U);
}

TEST_P(AbsentWaiters, AreForgottenWhenTheirPatienceEnds) {
  misses_its_turn("bob");  // Asked one second ago.
  after(9s - 1us);
  EXPECT_THAT(line(), ElementsAre("bob"));
  after(1us);
  EXPECT_THAT(line(), IsEmpty());
  EXPECT_EQ(look().counters.abandoned, 1U);
}

TEST_P(AbsentWaiters, AreGoneAtOnceIfTheirPatienceEndedMeanwhile) {
  const Token ann = enters("ann").token;
  waits(visitor("bob").patience(3s));
  after(2500ms);
  EXPECT_TRUE(releases(ann));
  after(1s);
  EXPECT_THAT(line(), IsEmpty());
  enters("cid");
}

TEST_P(AbsentWaiters, MayLeave) {
  misses_its_turn("bob");
  EXPECT_TRUE(leaves("bob"));
  EXPECT_THAT(line(), IsEmpty());
}

TEST_P(AbsentWaiters, MakeNoFollowerAbsent) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  waits("dan");
  EXPECT_TRUE(releases(ann));
  after(1s);
  is_refused("eve", Reason::full);
  EXPECT_THAT(handed(), ElementsAre("cid"));
  ASSERT_THAT(line(), ElementsAre("bob", "dan"));
  EXPECT_TRUE(look().line.at(1).present);
}

TEST_P(AbsentWaiters, OfADetachedVisitorAreNoDifferent) {
  const Token ann = enters("ann").token;
  waits(visitor("bob").detached());
  EXPECT_TRUE(releases(ann));
  after(1s);
  enters("cid");
  ASSERT_THAT(line(), ElementsAre("bob"));
  EXPECT_EQ(look().line.at(0).hold, Hold::detached);
}

// --- waiters whose listener has gone ---

TEST_P(AbsentWaiters, AreSoAtOnceWhenMarked) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  EXPECT_TRUE(is_marked_absent("bob"));
  ASSERT_THAT(line(), ElementsAre("bob", "cid"));
  EXPECT_FALSE(look().line.at(0).present);
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), ElementsAre("cid"));
}

TEST_P(AbsentWaiters, ThatWereMarkedAreFirstAgainAsSoonAsTheyAsk) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  EXPECT_TRUE(is_marked_absent("bob"));
  EXPECT_EQ(waits("cid").position, 1U);
  EXPECT_EQ(waits("bob").position, 1U);
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), ElementsAre("bob"));
}

TEST_P(AbsentWaiters, ThatWereMarkedPassOnWhatTheyWereHanded) {
  every_visitor.rate({.count = 2, .period = 1h});
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  EXPECT_TRUE(releases(ann));
  ASSERT_THAT(handed(), ElementsAre("bob"));
  EXPECT_TRUE(is_marked_absent("bob"));
  EXPECT_THAT(handed(), ElementsAre("cid"));  // Of two tokens, the second came back.
  EXPECT_THAT(line(), ElementsAre("bob"));
  EXPECT_EQ(look().counters.missed, 1U);
}

TEST_P(AbsentWaiters, ThatWereMarkedMakeWayForTheirFollowers) {
  every_visitor.limit(2);
  enters("ann");
  waits(visitor("bob").weight(2));
  waits("cid");
  EXPECT_THAT(handed(), IsEmpty());
  EXPECT_TRUE(is_marked_absent("bob"));
  EXPECT_THAT(handed(), ElementsAre("cid"));
}

TEST_P(AbsentWaiters, ThatWereMarkedAreForgottenWhenTheirPatienceEnds) {
  enters("ann");
  waits("bob");
  after(4s);
  EXPECT_TRUE(is_marked_absent("bob"));
  after(6s - 1us);
  EXPECT_THAT(line(), ElementsAre("bob"));
  EXPECT_TRUE(is_marked_absent("bob"));  // Which restarts nothing.
  after(1us);
  EXPECT_THAT(line(), IsEmpty());
}

TEST_P(AbsentWaiters, CannotBeThoseWhoHaveNoPlace) {
  EXPECT_FALSE(is_marked_absent("nobody"));
  const Token ann = enters("ann").token;
  EXPECT_FALSE(is_marked_absent("ann"));
  EXPECT_FALSE(is_marked_absent("nobody"));
  EXPECT_TRUE(store().holds(ann));
}

// --- what a waiter is told ---

class WhatAWaiterIsTold : public StoreContract {
 protected:
  // Somebody holds the gate, nobody waits, and many were let in from the line, one each `interval`.
  void the_line_moves_every(Duration interval) {
    Token holder = enters("first").token;
    for (int i = 0; i < 64; ++i) {
      waits(std::to_string(i));
      after(interval);
      EXPECT_TRUE(releases(holder));
      holder = enters(std::to_string(i)).token;
    }
  }
};

TEST_P(WhatAWaiterIsTold, AWaiterIsToldItsPositionAndTheLengthOfTheLine) {
  enters("ann");
  EXPECT_EQ(waits("bob").waiting, 1U);
  const Queued cid = waits("cid");
  EXPECT_EQ(cid.position, 2U);
  EXPECT_EQ(cid.waiting, 2U);
  EXPECT_EQ(waits("bob").waiting, 2U);
}

TEST_P(WhatAWaiterIsTold, AWaiterChecksAtAThirdOfItsPatienceAtTheLatest) {
  enters("ann");
  EXPECT_LASTS(waits(visitor("bob").patience(9s)).next_check, 3s);
}

TEST_P(WhatAWaiterIsTold, AWaiterChecksWhenTheNextThingHappensAtTheGate) {
  every_visitor.limit(2);
  enters("ann");
  enters(visitor("bob").ttl(1s));
  EXPECT_LASTS(waits("cid").next_check, 1s);
  EXPECT_LASTS(waits("dan").next_check, 1050ms);
  EXPECT_LASTS(waits("eve").next_check, 1100ms);
  after(400ms);
  EXPECT_LASTS(waits("cid").next_check, 600ms);
}

TEST_P(WhatAWaiterIsTold, AWaiterChecksWhenAHandOverMayLapse) {
  const Token ann = enters("ann").token;
  waits(visitor("bob").claim_window(500ms));
  waits("cid");
  EXPECT_TRUE(releases(ann));
  after(100ms);
  EXPECT_LASTS(waits("cid").next_check, 400ms);
}

TEST_P(WhatAWaiterIsTold, AWaiterChecksWhenSomebodyAheadMayLosePatience) {
  enters("ann");
  waits(visitor("bob").patience(2s));
  EXPECT_LASTS(waits("cid").next_check, 2050ms);
}

TEST_P(WhatAWaiterIsTold, AWaiterKnowsNoWaitingTimeBeforeAnythingHappened) {
  enters("ann");
  EXPECT_LASTS(waits("bob").eta, 0s);
}

TEST_P(WhatAWaiterIsTold, AWaitersExpectedTimeFollowsThePaceOfTheGate) {
  the_line_moves_every(4s);
  const Duration first = waits("bob").eta;
  EXPECT_GE(first, 3900ms);
  EXPECT_LE(first, 4100ms);
  const Duration third = (waits("cid"), waits("dan").eta);
  EXPECT_EQ(third, 3 * first);
}

TEST_P(WhatAWaiterIsTold, AWaiterThatWouldComeTooLateIsRefused) {
  the_line_moves_every(4s);
  waits(visitor("bob").max_eta(5s));
  is_refused(visitor("cid").max_eta(5s).joins(), Reason::late);
  EXPECT_THAT(line(), ElementsAre("bob"));
  waits(visitor("bob").max_eta(1s));
}

TEST_P(WhatAWaiterIsTold, ThoseWhoAreAbsentMakeNobodyLate) {
  every_visitor.patience(1h);
  the_line_moves_every(4s);
  const Token holder = repeats("63").token;
  waits("absent");
  after(4s);
  EXPECT_TRUE(releases(holder));
  after(1s);
  enters("cid");
  waits(visitor("dan").max_eta(5s));
}

INSTANTIATE_TEST_SUITE_P(Stores, WhatAWaiterIsTold, ::testing::ValuesIn(all_stores()),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, AbsentWaiters, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
