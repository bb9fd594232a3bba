#include <cstdint>
#include <string>

#include "contract/support/store_contract.hpp"

// Peek, at most, reserve; a line in front of a rate; dedupe and refund.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RateModes : public StoreContract {
 protected:
  RateModes() { every_visitor.rate_only(); }

  // What is left, asked without taking.
  std::uint32_t remaining() {
    const Answer answer = ask(visitor("observer").mode(RateMode::peek).cost(1).dedupe(0s));
    if (const auto* granted = std::get_if<Granted>(&answer)) return granted->rate.remaining;
    return std::get<Refused>(answer).rate.remaining;
  }
};

TEST_P(RateModes, APeekTakesNothing) {
  every_visitor.rate({.count = 3, .period = 1s});
  for (int i = 0; i < 10; ++i) enters(visitor("ann").mode(RateMode::peek));
  for (int i = 0; i < 3; ++i) enters("bob");
  const Refused refused = is_refused(visitor("ann").mode(RateMode::peek), Reason::rate);
  EXPECT_LASTS(refused.retry_after, 333'334us);
}

TEST_P(RateModes, AtMostTakesWhatThereIs) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::at_most);
  EXPECT_EQ(enters(visitor("ann").cost(6)).taken, 6U);
  const Granted bob = enters(visitor("bob").cost(100));
  EXPECT_EQ(bob.taken, 4U);
  EXPECT_EQ(bob.rate.remaining, 0U);
  EXPECT_LASTS(is_refused(visitor("cid").cost(100), Reason::rate).retry_after, 100ms);
}

TEST_P(RateModes, AtMostOfMoreThanTheBurstIsNotImpossibleAtAPausedGate) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::at_most);
  store().pause(gate(), 5s);
  const Refused refused = is_refused(visitor("ann").cost(100), Reason::paused);
  EXPECT_LASTS(refused.retry_after, 5s);
  EXPECT_LASTS(refused.rate.retry_after, 0s);
}

TEST_P(RateModes, AtMostTakesWhatEveryTierHas) {
  every_visitor.rate({.count = 10, .period = 1s}).rate({.count = 4, .period = 1min});
  EXPECT_EQ(enters(visitor("ann").cost(7).mode(RateMode::at_most)).taken, 4U);
  EXPECT_EQ(
      enters(visitor("bob").cost(7).mode(RateMode::at_most).rates({{.count = 10, .period = 1s}}))
          .taken,
      6U);
}

TEST_P(RateModes, AtMostTakesAllWhereThereIsNoLimit) {
  every_visitor.rate(Rate::parse("unlimited")).mode(RateMode::at_most);
  EXPECT_EQ(enters(visitor("ann").cost(1'000'000)).taken, 1'000'000U);
  EXPECT_EQ(enters(visitor("bob").cost(7).rate({.count = 5, .period = 1s})).taken, 5U);
}

TEST_P(RateModes, AReservationIsGrantedWithADelay) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::reserve).cost(5);
  EXPECT_LASTS(enters("ann").delay, 0s);
  EXPECT_LASTS(enters("bob").delay, 0s);
  EXPECT_LASTS(enters("cid").delay, 500ms);
  EXPECT_LASTS(enters("dan").delay, 1s);
  EXPECT_LASTS(is_refused(visitor("eve").cost(1).mode(RateMode::take), Reason::rate).retry_after,
               1100ms);
}

TEST_P(RateModes, AReservationSaysHowThingsStandAfterIt) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::reserve).cost(5);
  const RateInfo ann = enters("ann").rate;
  EXPECT_EQ(ann.remaining, 5U);
  EXPECT_LASTS(ann.retry_after, 0s);
  EXPECT_LASTS(ann.reset_after, 500ms);
  enters("bob");
  const RateInfo cid = enters("cid").rate;
  EXPECT_EQ(cid.limit, 10U);
  EXPECT_EQ(cid.remaining, 0U);
  EXPECT_LASTS(cid.retry_after, 1s);
  EXPECT_LASTS(cid.reset_after, 1500ms);
}

TEST_P(RateModes, AReservationBeyondItsLongestDelayTakesNothing) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::reserve).cost(10);
  enters("ann");
  every_visitor.max_delay(999ms);
  for (int i = 0; i < 3; ++i) EXPECT_GT(is_refused("bob", Reason::rate).retry_after, 0s);
  EXPECT_LASTS(enters(visitor("bob").max_delay(1s)).delay, 1s);
}

TEST_P(RateModes, ReservationsWithoutEndNeverOverflow) {
  every_visitor.rate({.count = 1, .period = 24h * 365, .burst = 142}).mode(RateMode::reserve);
  Duration last{0};
  for (int i = 0; i < 5'000; ++i) {
    const Answer answer = ask(visitor("ann").cost(142));
    const auto* granted = std::get_if<Granted>(&answer);
    if (granted == nullptr) break;  // Farther than a store can see.
    ASSERT_GE(granted->delay, last);
    last = granted->delay;
  }
  is_refused(visitor("ann").mode(RateMode::take), Reason::rate);
}

// --- a line in front of a rate ---

TEST_P(RateModes, AWaiterForARateEntersWhenItIsTimeAndInOrder) {
  every_visitor.rate({.count = 1, .period = 1s});
  enters("ann");
  EXPECT_LASTS(waits("bob").next_check, 1s);
  EXPECT_EQ(waits("cid").position, 2U);
  after(1s);
  EXPECT_TRUE(std::holds_alternative<Refused>(ask(visitor("dan"))));
  waits("cid");
  enters("bob");
  EXPECT_THAT(line(), ElementsAre("cid"));
  after(1s);
  enters("cid");
}

TEST_P(RateModes, AWaiterForARateIsNotRecordedEither) {
  every_visitor.rate({.count = 1, .period = 1s});
  enters("ann");
  waits("bob");
  after(1s);
  const Granted bob = enters("bob");
  EXPECT_EQ(bob.token.fence, 0U);
  EXPECT_LASTS(bob.expires_in, 0s);
  EXPECT_EQ(bob.taken, 1U);
  EXPECT_THAT(holders(), IsEmpty());
  is_refused("bob", Reason::rate);
}

TEST_P(RateModes, AnOldTokenOfARateIsNoneOfAHandOver) {
  every_visitor.rate({.count = 1, .period = 1s});
  const Token ann = enters("ann").token;
  waits("ann");
  after(1s);
  EXPECT_THAT(handed(), ElementsAre("ann"));
  EXPECT_FALSE(releases(ann));
  EXPECT_FALSE(store().disown(ann));
  enters("ann");
}

// --- dedupe and refund ---

TEST_P(RateModes, ADedupedRetryFindsTheFirstAnswer) {
  every_visitor.rate({.count = 10, .period = 1h}).dedupe(5s).cost(4);
  EXPECT_EQ(enters("ann").taken, 4U);
  after(5s - 1us);
  EXPECT_EQ(repeats("ann").taken, 4U);
  EXPECT_EQ(remaining(), 6U);
  after(1us);
  enters("ann");
  EXPECT_EQ(remaining(), 2U);
}

TEST_P(RateModes, WhatIsDedupedIsNoAdmissionOfAnotherKind) {
  const Question by_rate = visitor("ann").rate({.count = 10, .period = 1h}).dedupe(1min);
  enters(by_rate);
  const Granted ann = enters(Question("ann").limit(1));
  EXPECT_GT(ann.token.fence, 0U);
  EXPECT_THAT(holders(), ElementsAre("ann"));
  EXPECT_TRUE(releases(ann.token));
}

TEST_P(RateModes, WithoutDedupeARememberedVisitorAsksANewQuestion) {
  every_visitor.rate({.count = 10, .period = 1h});
  const Question deduped = visitor("ann").dedupe(5s);
  enters(deduped);
  enters(visitor("ann").mode(RateMode::peek));
  EXPECT_EQ(enters(visitor("ann").cost(2)).taken, 2U);
  EXPECT_EQ(remaining(), 7U);
  EXPECT_EQ(repeats(deduped).taken, 1U);
  EXPECT_EQ(remaining(), 7U);
}

TEST_P(RateModes, WithoutDedupeARememberedVisitorMayWait) {
  every_visitor.rate({.count = 1, .period = 1s});
  enters(visitor("ann").dedupe(5s));
  waits("ann");
  after(1s);
  EXPECT_EQ(enters("ann").taken, 1U);
}

TEST_P(RateModes, DedupeIsByVisitor) {
  every_visitor.rate({.count = 10, .period = 1h}).dedupe(5s);
  enters("ann");
  enters("bob");
  EXPECT_EQ(remaining(), 8U);
}

TEST_P(RateModes, ARefundGivesBackWhatWasCharged) {
  every_visitor.rate({.count = 10, .period = 1h}).rate({.count = 10, .period = 24h});
  const Question ann = visitor("ann").cost(7);
  enters(ann);
  EXPECT_EQ(remaining(), 3U);
  store().refund(ann.request());
  EXPECT_EQ(remaining(), 10U);
  EXPECT_EQ(enters(visitor("bob").cost(10)).rate.remaining, 0U);
}

TEST_P(RateModes, ARefundNeverGivesMoreThanTheBurst) {
  every_visitor.rate({.count = 10, .period = 1s});
  const Question ann = visitor("ann").cost(7);
  enters(ann);
  after(10s);
  store().refund(ann.request());
  EXPECT_EQ(remaining(), 10U);
  enters(visitor("bob").cost(10));
  is_refused("cid", Reason::rate);
}

TEST_P(RateModes, ARefundAtAnUnknownGateMakesNoGate) {
  every_visitor.rate({.count = 10, .period = 1s});
  store().refund(visitor("ann").request());
  EXPECT_FALSE(knows(gate()));
}

INSTANTIATE_TEST_SUITE_P(Stores, RateModes, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
