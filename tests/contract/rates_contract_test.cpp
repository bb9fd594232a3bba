#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "contract/support/store_contract.hpp"

// GCRA, the modes, several tiers, dedupe and refund. The windows have a file of their own.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Rates : public StoreContract {
 protected:
  Rates() { every_visitor.rate_only(); }

  // What is left, asked without taking.
  std::uint32_t remaining() {
    const Answer answer = ask(visitor("observer").mode(RateMode::peek).cost(1).dedupe(0s));
    if (const auto* granted = std::get_if<Granted>(&answer)) return granted->rate.remaining;
    return std::get<Refused>(answer).rate.remaining;
  }
};

TEST_P(Rates, ABurstPassesAndThenNoMore) {
  every_visitor.rate({.count = 10, .period = 1s});
  for (int i = 0; i < 10; ++i) enters(std::to_string(i));
  EXPECT_LASTS(is_refused("late", Reason::rate).retry_after, 100ms);
}

TEST_P(Rates, ABurstSmallerThanTheCountLimitsWhatPassesAtOnce) {
  every_visitor.rate({.count = 10, .period = 1s, .burst = 2});
  enters("ann");
  enters("bob");
  EXPECT_LASTS(is_refused("cid", Reason::rate).retry_after, 100ms);
}

TEST_P(Rates, RefillsContinuously) {
  every_visitor.rate({.count = 10, .period = 1s}).cost(10);
  enters("ann");
  every_visitor.cost(1);
  after(100ms - 1us);
  is_refused("bob", Reason::rate);
  after(1us);
  enters("bob");
  is_refused("cid", Reason::rate);
  after(10s);
  EXPECT_EQ(remaining(), 10U);
}

TEST_P(Rates, EveryAnswerSaysHowThingsStand) {
  every_visitor.rate({.count = 10, .period = 1s, .burst = 5});
  const RateInfo granted = enters(visitor("ann").cost(3)).rate;
  EXPECT_EQ(granted.limit, 5U);
  EXPECT_EQ(granted.remaining, 2U);
  EXPECT_LASTS(granted.retry_after, 100ms);  // Three more, not one.
  EXPECT_LASTS(granted.reset_after, 300ms);
  const RateInfo refused = is_refused(visitor("bob").cost(4), Reason::rate).rate;
  EXPECT_EQ(refused.limit, 5U);
  EXPECT_EQ(refused.remaining, 2U);
  EXPECT_LASTS(refused.retry_after, 200ms);
  EXPECT_LASTS(refused.reset_after, 300ms);
  EXPECT_LASTS(enters(visitor("cid").cost(1)).rate.retry_after, 0s);
}

TEST_P(Rates, RetryAfterIsRoundedUp) {
  every_visitor.rate({.count = 3, .period = 1s});
  enters(visitor("ann").cost(3));
  EXPECT_LASTS(is_refused("bob", Reason::rate).retry_after, 333'334us);
  after(333'333us);
  EXPECT_LASTS(is_refused("bob", Reason::rate).retry_after, 1us);
  after(1us);
  enters("bob");
}

// Scenario 26.
TEST_P(Rates, KeepAStrictScheduleOverManyCycles) {
  every_visitor.rate({.count = 7, .period = 1s, .burst = 2});
  Duration waited{0};
  for (int i = 0; i < 7'002; ++i) {
    const Answer answer = ask(visitor("ann"));
    if (const auto* refused = std::get_if<Refused>(&answer)) {
      waited += refused->retry_after;
      after(refused->retry_after);
      enters("ann");
    }
  }
  EXPECT_LASTS(waited, 1000s);
}

TEST_P(Rates, NothingRoundsToZero) {
  every_visitor.rate({.count = 1U << 31, .period = 1s, .burst = 2});
  enters(visitor("ann").cost(2));
  EXPECT_LASTS(is_refused("bob", Reason::rate).retry_after, 1us);
  after(1us);
  enters(visitor("bob").cost(2));
}

TEST_P(Rates, MayBeVerySlow) {
  every_visitor.rate({.count = 1, .period = 24h * 365});
  enters("ann");
  after(24h * 365 - 1us);
  is_refused("bob", Reason::rate);
  after(1us);
  enters("bob");
}

TEST_P(Rates, ACostAboveTheBurstCanNeverPass) {
  every_visitor.rate({.count = 10, .period = 1s, .burst = 5}).cost(6);
  const Refused refused = is_refused("ann", Reason::never);
  EXPECT_EQ(refused.retry_after, kForever);
  EXPECT_EQ(refused.rate.retry_after, kForever);
  is_refused(visitor("ann").mode(RateMode::peek), Reason::never);
  is_refused(visitor("ann").mode(RateMode::reserve), Reason::never);
  is_refused(visitor("ann").joins(), Reason::never);
  EXPECT_EQ(enters(visitor("ann").cost(5)).taken, 5U);
}

TEST_P(Rates, AnAdmissionByRateAloneIsNotRecorded) {
  every_visitor.rate({.count = 10, .period = 1s});
  const Granted ann = enters("ann");
  EXPECT_EQ(ann.token.fence, 0U);
  EXPECT_LASTS(ann.expires_in, 0s);
  EXPECT_FALSE(ann.slot.has_value());
  EXPECT_THAT(holders(), IsEmpty());
  EXPECT_FALSE(releases(ann.token));
  enters("ann");
  EXPECT_EQ(remaining(), 8U);
}

// --- modes ---

TEST_P(Rates, APeekTakesNothing) {
  every_visitor.rate({.count = 3, .period = 1s});
  for (int i = 0; i < 10; ++i) enters(visitor("ann").mode(RateMode::peek));
  for (int i = 0; i < 3; ++i) enters("bob");
  const Refused refused = is_refused(visitor("ann").mode(RateMode::peek), Reason::rate);
  EXPECT_LASTS(refused.retry_after, 333'334us);
}

TEST_P(Rates, AtMostTakesWhatThereIs) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::at_most);
  EXPECT_EQ(enters(visitor("ann").cost(6)).taken, 6U);
  const Granted bob = enters(visitor("bob").cost(100));
  EXPECT_EQ(bob.taken, 4U);
  EXPECT_EQ(bob.rate.remaining, 0U);
  EXPECT_LASTS(is_refused(visitor("cid").cost(100), Reason::rate).retry_after, 100ms);
}

TEST_P(Rates, AtMostTakesWhatEveryTierHas) {
  every_visitor.rate({.count = 10, .period = 1s}).rate({.count = 4, .period = 1min});
  EXPECT_EQ(enters(visitor("ann").cost(7).mode(RateMode::at_most)).taken, 4U);
  EXPECT_EQ(
      enters(visitor("bob").cost(7).mode(RateMode::at_most).rates({{.count = 10, .period = 1s}}))
          .taken,
      6U);
}

TEST_P(Rates, AReservationIsGrantedWithADelay) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::reserve).cost(5);
  EXPECT_LASTS(enters("ann").delay, 0s);
  EXPECT_LASTS(enters("bob").delay, 0s);
  EXPECT_LASTS(enters("cid").delay, 500ms);
  EXPECT_LASTS(enters("dan").delay, 1s);
  EXPECT_LASTS(is_refused(visitor("eve").cost(1).mode(RateMode::take), Reason::rate).retry_after,
               1100ms);
}

TEST_P(Rates, AReservationBeyondItsLongestDelayTakesNothing) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::reserve).cost(10);
  enters("ann");
  every_visitor.max_delay(999ms);
  for (int i = 0; i < 3; ++i) EXPECT_GT(is_refused("bob", Reason::rate).retry_after, 0s);
  EXPECT_LASTS(enters(visitor("bob").max_delay(1s)).delay, 1s);
}

TEST_P(Rates, ReservationsWithoutEndNeverOverflow) {
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

// --- several tiers ---

TEST_P(Rates, EveryTierMustPassAndNothingIsTakenUnlessAllDo) {
  every_visitor.rate({.count = 5, .period = 1s}).rate({.count = 2, .period = 1min});
  enters("ann");
  enters("bob");
  for (int i = 0; i < 20; ++i) EXPECT_LASTS(is_refused("cid", Reason::rate).retry_after, 30s);
  every_visitor.rates({{.count = 5, .period = 1s}});
  EXPECT_EQ(remaining(), 3U);
}

TEST_P(Rates, TheOrderOfTheTiersDoesNotMatter) {
  every_visitor.rate({.count = 2, .period = 1min}).rate({.count = 5, .period = 1s});
  enters("ann");
  enters("bob");
  for (int i = 0; i < 20; ++i) is_refused("cid", Reason::rate);
  every_visitor.rates({{.count = 5, .period = 1s}});
  EXPECT_EQ(remaining(), 3U);
}

TEST_P(Rates, TheTightestTierIsTold) {
  every_visitor.rate({.count = 100, .period = 1s}).rate({.count = 3, .period = 1min});
  EXPECT_EQ(enters("ann").rate.limit, 3U);
  EXPECT_EQ(enters("bob").rate.remaining, 1U);
}

TEST_P(Rates, TheLongestWaitOfAllTiersIsTold) {
  every_visitor.rate({.count = 1, .period = 1s}).rate({.count = 1, .period = 1min});
  enters("ann");
  EXPECT_LASTS(is_refused("bob", Reason::rate).retry_after, 1min);
}

TEST_P(Rates, TiersOfDifferentPeriodsAreRememberedApart) {
  enters(visitor("ann").rate({.count = 1, .period = 1s}));
  enters(visitor("bob").rate({.count = 1, .period = 2s}));
  is_refused(visitor("cid").rate({.count = 1, .period = 1s}), Reason::rate);
  EXPECT_EQ(look().rates.size(), 2U);
}

TEST_P(Rates, AChangedCountKeepsTheTime) {
  const Question ten = visitor("ann").rate({.count = 10, .period = 1s});
  const Question twenty = visitor("ann").rate({.count = 20, .period = 1s});
  enters(Question(ten).cost(10));
  const Refused refused = is_refused(twenty, Reason::rate);
  EXPECT_LASTS(refused.retry_after, 50ms);
  EXPECT_LASTS(refused.rate.reset_after, 1s);
}

TEST_P(Rates, AChangedCountRoundsWhatIsUsedUp) {
  enters(visitor("ann").rate({.count = 10, .period = 1s}).cost(5));
  every_visitor.rate({.count = 3, .period = 1s});
  EXPECT_EQ(remaining(), 1U);
}

// --- a line in front of a rate ---

TEST_P(Rates, AWaiterForARateEntersWhenItIsTimeAndInOrder) {
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

TEST_P(Rates, AWaiterForARateIsNotRecordedEither) {
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

// --- dedupe and refund ---

TEST_P(Rates, ADedupedRetryFindsTheFirstAnswer) {
  every_visitor.rate({.count = 10, .period = 1h}).dedupe(5s).cost(4);
  EXPECT_EQ(enters("ann").taken, 4U);
  after(5s - 1us);
  EXPECT_EQ(repeats("ann").taken, 4U);
  EXPECT_EQ(remaining(), 6U);
  after(1us);
  enters("ann");
  EXPECT_EQ(remaining(), 2U);
}

TEST_P(Rates, DedupeIsByVisitor) {
  every_visitor.rate({.count = 10, .period = 1h}).dedupe(5s);
  enters("ann");
  enters("bob");
  EXPECT_EQ(remaining(), 8U);
}

TEST_P(Rates, ARefundGivesBackWhatWasCharged) {
  every_visitor.rate({.count = 10, .period = 1h}).rate({.count = 20, .period = 24h});
  const Question ann = visitor("ann").cost(7);
  enters(ann);
  store().refund(ann.request());
  EXPECT_EQ(remaining(), 10U);
  EXPECT_LASTS(enters("bob").rate.reset_after, 6min);
}

TEST_P(Rates, ARefundNeverGivesMoreThanTheBurst) {
  every_visitor.rate({.count = 10, .period = 1s});
  const Question ann = visitor("ann").cost(7);
  enters(ann);
  after(10s);
  store().refund(ann.request());
  EXPECT_EQ(remaining(), 10U);
  enters(visitor("bob").cost(10));
  is_refused("cid", Reason::rate);
}

TEST_P(Rates, ManyThreadsTogetherNeverTakeMoreThanThereIs) {
  every_visitor.rate({.count = 100, .period = 1h});
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 100; ++j) {
        const Question question = visitor(std::to_string(i * 1'000 + j));
        if (std::holds_alternative<Granted>(ask(question))) ++granted;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(granted, 100);
}

INSTANTIATE_TEST_SUITE_P(Stores, Rates, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
