#include "contract/support/store_contract.hpp"

// What admit answers, by the state of the visitor at the gate (DESIGN.md section 2); and law 2.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Rate kTenPerMinute{.count = 10, .period = 1min};

// --- never seen, released, expired, left: a new question ---

TEST_P(StoreContract, ANewVisitorGetsAFenceAndIsCharged) {
  const Granted ann = enters(visitor("ann").rate(kTenPerMinute));
  EXPECT_GT(ann.token.fence, 0U);
  EXPECT_EQ(ann.token.gate, gate());
  EXPECT_EQ(ann.token.visitor, VisitorId::named("ann"));
  EXPECT_EQ(ann.token.store, store().id());
  EXPECT_LASTS(ann.expires_in, 30s);
  EXPECT_EQ(ann.taken, 1U);
  EXPECT_EQ(ann.rate.remaining, 9U);
}

TEST_P(StoreContract, AReleasedVisitorAsksAnew) {
  every_visitor.rate(kTenPerMinute);
  const Token first = enters("ann").token;
  EXPECT_TRUE(releases(first));
  const Granted second = enters("ann");
  EXPECT_GT(second.token.fence, first.fence);
  EXPECT_EQ(second.rate.remaining, 8U);
}

TEST_P(StoreContract, AnExpiredVisitorAsksAnew) {
  every_visitor.rate(kTenPerMinute).ttl(1s);
  const Token first = enters("ann").token;
  after(1s);
  const Granted second = enters("ann");
  EXPECT_GT(second.token.fence, first.fence);
  EXPECT_EQ(second.rate.remaining, 8U);
  EXPECT_LASTS(second.expires_in, 1s);
}

TEST_P(StoreContract, AnExpiredVisitorGoesToTheTail) {
  every_visitor.limit(2);
  enters(visitor("ann").ttl(1s));
  enters("bob");
  waits(visitor("cid").weight(2));
  after(1s);
  EXPECT_EQ(waits("ann").position, 2U);
}

TEST_P(StoreContract, AReleasedVisitorGoesToTheTail) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  EXPECT_TRUE(releases(ann));
  waits("ann");
  EXPECT_THAT(line(), ElementsAre("cid", "ann"));
}

TEST_P(StoreContract, AVisitorThatLeftGoesToTheTail) {
  enters("ann");
  waits("bob");
  waits("cid");
  EXPECT_TRUE(leaves("bob"));
  EXPECT_EQ(waits("bob").position, 2U);
  EXPECT_THAT(line(), ElementsAre("cid", "bob"));
}

TEST_P(StoreContract, AVisitorWithoutPatienceGoesToTheTail) {
  enters("ann");
  waits(visitor("bob").patience(3s));
  waits("cid");
  after(3s);
  EXPECT_EQ(waits("bob").position, 2U);
  EXPECT_THAT(line(), ElementsAre("cid", "bob"));
}

// --- holding ---

TEST_P(StoreContract, AHolderThatAsksAgainFindsItsFirstAnswer) {
  every_visitor.limit(2).rate(kTenPerMinute);
  const Granted first = enters("ann");
  after(12s);
  const Granted again = repeats("ann");
  EXPECT_EQ(again.token, first.token);
  EXPECT_EQ(again.slot, first.slot);
  EXPECT_LASTS(again.expires_in, 18s);
  EXPECT_EQ(look().counts.in_use, 1U);
}

TEST_P(StoreContract, AHolderThatAsksAgainIsNotRenewed) {
  enters("ann");
  after(29s);
  repeats("ann");
  after(1s);
  enters("bob");
}

TEST_P(StoreContract, AHolderThatAsksAgainIsNotCharged) {
  every_visitor.limit(2).rate({.count = 2, .period = 1h});
  enters("ann");
  repeats("ann");
  repeats("ann");
  enters("bob");
}

TEST_P(StoreContract, AHolderThatAsksAgainCannotChangeItsAdmission) {
  enters(visitor("ann").limit(4).weight(2));
  const std::string before = describe(look());
  const Question other =
      visitor("ann").limit(9).weight(3).ttl(1h).rate(kTenPerMinute).joins().detached();
  EXPECT_LASTS(repeats(other).expires_in, 30s);
  EXPECT_EQ(describe(look()), before);
}

TEST_P(StoreContract, AHolderFindsItsAnswerAtAFullGate) {
  enters("ann");
  waits("bob");
  repeats("ann");
  repeats(visitor("ann").joins());
  EXPECT_THAT(line(), ElementsAre("bob"));
}

TEST_P(StoreContract, AHolderFindsItsAnswerWhateverOperatorsDid) {
  enters("ann");
  store().set_limit(gate(), 0);
  store().pause(gate(), 1min);
  repeats("ann");
}

TEST_P(StoreContract, AClaimThatIsRepeatedFindsTheClaim) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  const Granted claim = enters("bob");
  after(5s);
  const Granted again = repeats("bob");
  EXPECT_EQ(again.token, claim.token);
  EXPECT_LASTS(again.expires_in, 25s);
}

// --- handed over, unclaimed ---

TEST_P(StoreContract, TheAskOfOneWhoWasHandedASlotIsTheClaim) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  const HolderView handed_over = look().holders.at(0);
  EXPECT_FALSE(handed_over.claimed);
  after(900ms);
  const Granted bob = enters("bob");
  EXPECT_EQ(bob.token.fence, handed_over.fence);
  EXPECT_LASTS(bob.expires_in, 30s);
  EXPECT_TRUE(look().holders.at(0).claimed);
  EXPECT_LASTS(look().holders.at(0).remaining, 30s);
}

TEST_P(StoreContract, AClaimMayComeUntilTheWindowEnds) {
  const Token ann = enters("ann").token;
  waits(visitor("bob").claim_window(2s));
  EXPECT_TRUE(releases(ann));
  after(2s - 1us);
  is_refused("cid", Reason::full);
  enters("bob");
}

TEST_P(StoreContract, AWindowThatEndedIsMissed) {
  const Token ann = enters("ann").token;
  waits(visitor("bob").claim_window(2s));
  EXPECT_TRUE(releases(ann));
  after(2s);
  enters("cid");
  EXPECT_EQ(look().counters.missed, 1U);
}

TEST_P(StoreContract, AClaimIsNotChargedAgain) {
  every_visitor.rate({.count = 2, .period = 1h});
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  const Granted bob = enters("bob");
  EXPECT_EQ(bob.rate.remaining, 0U);
  EXPECT_TRUE(releases(bob.token));
  is_refused("cid", Reason::rate);
}

// --- waiting ---

TEST_P(StoreContract, AWaiterKeepsItsPlaceHoweverOftenItAsks) {
  enters("ann");
  waits("bob");
  waits("cid");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(waits("cid").position, 2U);
    EXPECT_EQ(waits("bob").position, 1U);
  }
  EXPECT_THAT(line(), ElementsAre("bob", "cid"));
}

TEST_P(StoreContract, AskingAgainRestartsPatience) {
  enters("ann");
  waits(visitor("bob").patience(3s));
  after(2s);
  waits(visitor("bob").patience(3s));
  after(2s);
  EXPECT_THAT(line(), ElementsAre("bob"));
  after(1s);
  EXPECT_THAT(line(), IsEmpty());
}

TEST_P(StoreContract, OnlyLeaveLeavesTheLine) {
  enters("ann");
  waits("bob");
  EXPECT_TRUE(std::holds_alternative<Queued>(ask(visitor("bob"))));
  EXPECT_THAT(line(), ElementsAre("bob"));
}

TEST_P(StoreContract, AWaitersLimitIsUpdated) {
  enters("ann");
  waits("bob");
  enters(visitor("bob").limit(2).joins());
  EXPECT_THAT(holders(), ElementsAre("ann", "bob"));
}

TEST_P(StoreContract, AWaitersUpdatedLimitCountsWhenASlotIsFreed) {
  every_visitor.limit(2);
  const Token ann = enters("ann").token;
  enters("bob");
  waits("cid");
  waits(visitor("cid").limit(1));
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), IsEmpty());
  EXPECT_THAT(line(), ElementsAre("cid"));
}

TEST_P(StoreContract, AWaitersRatesAreUpdated) {
  every_visitor.limit(2);
  const Rate one_per_hour{.count = 1, .period = 1h};
  enters(visitor("ann").rate(one_per_hour));
  waits(visitor("bob").rate(one_per_hour));
  enters(visitor("bob").rate(kTenPerMinute).joins());
}

TEST_P(StoreContract, AWaitersCostIsUpdated) {
  every_visitor.rate(kTenPerMinute);
  const Token ann = enters("ann").token;
  waits("bob");
  waits(visitor("bob").cost(3));
  EXPECT_TRUE(releases(ann));
  const Granted bob = enters("bob");
  EXPECT_EQ(bob.taken, 3U);
  EXPECT_EQ(bob.rate.remaining, 6U);
}

TEST_P(StoreContract, AWaitersWeightAndPriorityAreNotUpdated) {
  every_visitor.limit(2).order(Order::priority);
  enters(visitor("ann").weight(2));
  waits(visitor("bob").priority(5));
  waits(visitor("cid").weight(2).priority(1));
  waits(visitor("cid").weight(1).priority(9));
  EXPECT_THAT(line(), ElementsAre("bob", "cid"));
  EXPECT_EQ(look().line.at(1).weight, 2U);
  EXPECT_EQ(look().line.at(1).priority, 1U);
}

TEST_P(StoreContract, AWaiterThatAsksForTheImpossibleIsToldSoAndKeepsItsPlace) {
  every_visitor.limit(5).rate(kTenPerMinute);
  enters(visitor("ann").cost(10));
  waits("bob");
  waits("cid");
  is_refused(visitor("bob").cost(11).joins(), Reason::never);
  EXPECT_THAT(line(), ElementsAre("bob", "cid"));
  EXPECT_EQ(waits("bob").position, 1U);
  after(6s);
  enters("bob");
}

TEST_P(StoreContract, AWaiterCannotAskForAnotherKindOfAdmission) {
  every_visitor.rate(kTenPerMinute);
  enters("ann");
  waits("bob");
  EXPECT_THROW((void)ask(visitor("bob").rate_only().joins()), InvalidArgument);
  EXPECT_THAT(line(), ElementsAre("bob"));
}

TEST_P(StoreContract, AHandOverCannotBeClaimedByAnotherKindOfAdmission) {
  every_visitor.rate(kTenPerMinute);
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_THROW((void)ask(visitor("bob").rate_only()), InvalidArgument);
  EXPECT_THAT(handed(), ElementsAre("bob"));
  enters("bob");
}

TEST_P(StoreContract, AHandOverByRateAloneIsNoClaimToPermits) {
  const Rate once{.count = 1, .period = 1s};
  enters(visitor("ann").rate_only().rate(once));
  waits(visitor("bob").rate_only().rate(once));
  after(1s);
  EXPECT_THAT(handed(), ElementsAre("bob"));
  EXPECT_THROW((void)ask(visitor("bob").rate(once)), InvalidArgument);
  EXPECT_EQ(look().counts.in_use, 0U);
}

}  // namespace
}  // namespace airlock::contract
