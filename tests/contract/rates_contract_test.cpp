#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "contract/support/store_contract.hpp"

// GCRA and several tiers. The modes and the windows have files of their own.

namespace airlock::contract {
namespace {

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

TEST_P(Rates, AChangedCountRoundsAFractionUp) {
  enters(visitor("ann").rate({.count = 3, .period = 1s}));
  const Refused refused = is_refused(visitor("ann").rate({.count = 1, .period = 1s}), Reason::rate);
  EXPECT_LASTS(refused.retry_after, 333'334us);
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
