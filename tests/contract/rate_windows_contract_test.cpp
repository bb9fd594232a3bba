#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <string>

#include "contract/support/store_contract.hpp"

// Sliding and fixed windows, no limit; and what holds for every algorithm.

namespace airlock::contract {
namespace {

using Algorithm = Rate::Algorithm;

constexpr Rate sliding(std::uint32_t count, Duration period) {
  return {.count = count, .period = period, .algorithm = Algorithm::sliding_window};
}

constexpr Rate fixed(std::uint32_t count, Duration period) {
  return {.count = count, .period = period, .algorithm = Algorithm::fixed_window};
}

class RateWindows : public StoreContract {
 protected:
  RateWindows() { every_visitor.rate_only(); }
};

// --- fixed window ---

TEST_P(RateWindows, AFixedWindowStartsAtTheFirstHit) {
  every_visitor.rate(fixed(2, 10s));
  until_multiple_of(10s);
  after(7s);
  enters("ann");
  after(4s);
  enters("ann");
  EXPECT_LASTS(is_refused("ann", Reason::rate).retry_after, 6s);
  after(6s - 1us);
  EXPECT_LASTS(is_refused("ann", Reason::rate).retry_after, 1us);
  after(1us);
  enters("ann");
}

TEST_P(RateWindows, AFixedWindowResetsWhole) {
  for (const Duration period : {Duration(1min), Duration(1h), Duration(24h), Duration(24h * 365)}) {
    every_visitor.rates({fixed(5, period)});
    enters(visitor("ann").cost(5));
    is_refused("ann", Reason::rate);
    after(period);
    EXPECT_EQ(enters(visitor("ann").cost(1)).rate.remaining, 4U);
  }
}

TEST_P(RateWindows, AFixedWindowSaysHowThingsStand) {
  every_visitor.rate(fixed(5, 10s));
  const RateInfo first = enters(visitor("ann").cost(3)).rate;
  EXPECT_EQ(first.limit, 5U);
  EXPECT_EQ(first.remaining, 2U);
  EXPECT_LASTS(first.retry_after, 10s);
  EXPECT_LASTS(first.reset_after, 10s);
  after(4s);
  const RateInfo second = enters(visitor("ann").cost(1)).rate;
  EXPECT_EQ(second.remaining, 1U);
  EXPECT_LASTS(second.retry_after, 0s);
  EXPECT_LASTS(second.reset_after, 6s);
}

TEST_P(RateWindows, AFixedWindowForgetsARefundOfThePast) {
  every_visitor.rate(fixed(5, 10s)).cost(3);
  const Question ann = visitor("ann");
  enters(ann);
  after(10s);
  enters(ann);
  store().refund(ann.request());
  store().refund(ann.request());
  EXPECT_EQ(enters(visitor("bob").cost(1)).rate.remaining, 4U);
}

// --- sliding window ---

TEST_P(RateWindows, ASlidingWindowCountsThePreviousOneByItsOverlap) {
  every_visitor.rate(sliding(10, 100s));
  until_multiple_of(100s);
  enters(visitor("ann").cost(8));
  after(125s);  // A quarter into the next: six of the eight count.
  for (int i = 0; i < 4; ++i) enters("bob");
  EXPECT_LASTS(is_refused("bob", Reason::rate).retry_after, 12'500ms);
  after(12'500ms - 1us);
  is_refused("bob", Reason::rate);
  after(1us);
  enters("bob");
}

TEST_P(RateWindows, ASlidingWindowIsAlignedToTheClock) {
  every_visitor.rate(sliding(10, 100s));
  until_multiple_of(100s);
  after(90s);
  enters(visitor("ann").cost(10));
  is_refused("ann", Reason::rate);
  after(60s);  // Half into the next.
  EXPECT_EQ(enters(visitor("ann").cost(5)).rate.remaining, 0U);
}

TEST_P(RateWindows, ASlidingWindowForgetsAfterTwoPeriods) {
  every_visitor.rate(sliding(10, 100s));
  until_multiple_of(100s);
  enters(visitor("ann").cost(10));
  after(200s);
  EXPECT_EQ(enters(visitor("ann").cost(10)).rate.remaining, 0U);
}

TEST_P(RateWindows, ASlidingWindowHasNoDoubleBurstAtItsEdge) {
  every_visitor.rate(sliding(10, 100s));
  until_multiple_of(100s);
  after(100s - 1us);
  enters(visitor("ann").cost(10));
  after(1us);
  is_refused("ann", Reason::rate);
}

TEST_P(RateWindows, ASlidingWindowGivesARefundBack) {
  every_visitor.rate(sliding(10, 100s)).cost(6);
  const Question ann = visitor("ann");
  enters(ann);
  store().refund(ann.request());
  EXPECT_EQ(enters(visitor("bob").cost(1)).rate.remaining, 9U);
}

TEST_P(RateWindows, ASlidingWindowGivesARefundBackAlsoOfTheWindowBefore) {
  every_visitor.rate(sliding(20, 100s));
  const Question ann = visitor("ann").cost(6);
  enters(ann);
  after(100s);
  enters(visitor("bob").cost(2));
  store().refund(ann.request());
  EXPECT_EQ(enters(visitor("cid").cost(1)).rate.remaining, 17U);
}

// --- no limit ---

// Scenario 30.
TEST_P(RateWindows, NoLimitAlwaysPasses) {
  every_visitor.rate({.algorithm = Algorithm::no_limit});
  for (int i = 0; i < 100; ++i) enters(visitor("ann").cost(1U << 31));
}

TEST_P(RateWindows, NoLimitDoesNotHideATierThatHasOne) {
  every_visitor.rate({.algorithm = Algorithm::no_limit}).rate({.count = 1, .period = 1s});
  EXPECT_EQ(enters("ann").rate.limit, 1U);
  EXPECT_LASTS(is_refused("bob", Reason::rate).retry_after, 1s);
}

// --- every algorithm ---

constexpr std::array kAlgorithms = {Algorithm::gcra, Algorithm::sliding_window,
                                    Algorithm::fixed_window};

class EveryAlgorithm : public RateWindows {
 protected:
  // From 0 to n - 1; the same in every run.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

 private:
  std::mt19937 random_{7};
};

TEST_P(EveryAlgorithm, PassesAtRetryAfterAndNotBefore) {
  for (const Algorithm algorithm : kAlgorithms) {
    every_visitor.at("gate" + std::to_string(static_cast<int>(algorithm)));
    every_visitor.rates({{.count = 13, .period = 700'001us, .algorithm = algorithm}});
    int refusals = 0;
    for (int round = 0; round < 2'000; ++round) {
      const Question question = visitor("ann").cost(1 + below(13));
      const Answer answer = ask(question);
      if (const auto* refused = std::get_if<Refused>(&answer)) {
        ++refusals;
        ASSERT_EQ(refused->reason, Reason::rate);
        ASSERT_GT(refused->retry_after, 0us);
        after(refused->retry_after - 1us);
        is_refused(question, Reason::rate);
        after(1us);
        enters(question);
      }
      after(Duration(below(100'000)));
    }
    EXPECT_GT(refusals, 100);
  }
}

TEST_P(EveryAlgorithm, TakesAtMostWhatItSaysRemains) {
  for (const Algorithm algorithm : kAlgorithms) {
    every_visitor.at("gate" + std::to_string(static_cast<int>(algorithm)));
    every_visitor.rates({{.count = 50, .period = 1s, .algorithm = algorithm}});
    for (int round = 0; round < 500; ++round) {
      const Answer answer = ask(visitor("ann").cost(1 + below(20)));
      const auto* granted = std::get_if<Granted>(&answer);
      const std::uint32_t remaining =
          granted != nullptr ? granted->rate.remaining : std::get<Refused>(answer).rate.remaining;
      if (remaining < 50)
        is_refused(visitor("ann").cost(remaining + 1).mode(RateMode::peek), Reason::rate);
      if (remaining > 0) enters(visitor("ann").cost(remaining).mode(RateMode::peek));
      after(Duration(below(300'000)));
    }
  }
}

TEST_P(EveryAlgorithm, IsFullAgainAfterResetAfter) {
  for (const Algorithm algorithm : kAlgorithms) {
    every_visitor.at("gate" + std::to_string(static_cast<int>(algorithm)));
    every_visitor.rates({{.count = 10, .period = 1s, .algorithm = algorithm}});
    after(enters(visitor("ann").cost(7)).rate.reset_after);
    EXPECT_EQ(enters(visitor("ann").cost(1)).rate.remaining, 9U);
  }
}

// In any span of a period: count + burst for GCRA, twice the count for windows.
TEST_P(EveryAlgorithm, NeverPassesMoreThanItsBoundInAnyPeriod) {
  for (const Algorithm algorithm : kAlgorithms) {
    every_visitor.at("gate" + std::to_string(static_cast<int>(algorithm)));
    every_visitor.rates({{.count = 20, .period = 1s, .algorithm = algorithm}});
    Duration now{0};
    std::deque<Duration> passed;
    for (int i = 0; i < 5'000; ++i) {
      if (std::holds_alternative<Granted>(ask(visitor("ann")))) passed.push_back(now);
      while (!passed.empty() && passed.front() <= now - 1s) passed.pop_front();
      ASSERT_LE(passed.size(), 40U);
      const Duration step(below(20'000));
      after(step);
      now += step;
    }
  }
}

TEST_P(EveryAlgorithm, IsShownByLook) {
  for (const Algorithm algorithm : kAlgorithms) {
    every_visitor.at("gate" + std::to_string(static_cast<int>(algorithm)));
    const Rate rate{.count = 10, .period = 1min, .algorithm = algorithm};
    const RateInfo info = enters(visitor("ann").rate(rate).cost(4)).rate;
    ASSERT_EQ(look().rates.size(), 1U);
    EXPECT_EQ(look().rates[0].rate.algorithm, algorithm);
    EXPECT_EQ(look().rates[0].rate.count, 10U);
    EXPECT_LASTS(look().rates[0].rate.period, 1min);
    EXPECT_EQ(look().rates[0].info.remaining, info.remaining);
    EXPECT_LASTS(look().rates[0].info.reset_after, info.reset_after);
  }
}

TEST_P(EveryAlgorithm, SurvivesWallClockJumps) {
  for (const Algorithm algorithm : kAlgorithms) {
    every_visitor.at("gate" + std::to_string(static_cast<int>(algorithm)));
    every_visitor.rates({{.count = 10, .period = 1min, .algorithm = algorithm}});
    const RateInfo info = enters(visitor("ann").cost(10)).rate;
    for (const Duration jump : {Duration(-24h), Duration(48h)}) {
      wall_jumps(jump);
      EXPECT_EQ(is_refused("ann", Reason::rate).rate.reset_after, info.reset_after);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, RateWindows, ::testing::ValuesIn(all_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, EveryAlgorithm, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
