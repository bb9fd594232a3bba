#include "airlock/rate_limiter_seal.hpp"

#include <atomic>
#include <concepts>
#include <random>
#include <thread>

#include "airlock/lock_seal.hpp"
#include "seal/support/seal_test.hpp"

namespace airlock::seals {
namespace {

using ::testing::IsEmpty;

template <typename S>
concept CanRelease = requires(const S& seal, const Token& token) {
  seal.release(token);
};
template <typename S>
concept CanRenew = requires(const S& seal, const Token& token) {
  seal.renew(token);
};

static_assert(CanRelease<LockSeal> && CanRenew<LockSeal>);
static_assert(!CanRelease<RateLimiterSeal> && !CanRenew<RateLimiterSeal>);
static_assert(!std::derived_from<RateLimiterSeal, LockingSeal>);

const Rate kTenPerSecond{.count = 10, .period = 1s};
const Rate kHundredPerHour{.count = 100, .period = 1h};

class RateLimiterSealTest : public SealTest {
 protected:
  RateLimiterSeal limiter_{store(), "api", {kTenPerSecond}};
};

TEST_P(RateLimiterSealTest, TakesOneTokenPerCallAndSaysOfWhat) {  // 13
  const Granted call = granted(limiter_.try_acquire());
  EXPECT_EQ(call.token.gate, GateName("api"));
  EXPECT_EQ(call.token.fence, 0U);
  EXPECT_EQ(call.taken, 1U);
  EXPECT_EQ(call.rate.limit, 10U);
  EXPECT_EQ(call.rate.remaining, 9U);
  EXPECT_LASTS(call.rate.reset_after, 100ms);
  EXPECT_EQ(remaining("api", kTenPerSecond), 9U);
  EXPECT_THAT(holders("api"), IsEmpty());
}

TEST_P(RateLimiterSealTest, ThrowsNothingOfARefusalAway) {  // 13, 32
  granted(limiter_.try_acquire(10));
  const Refused no = refused(limiter_.try_acquire(3), Reason::rate);
  EXPECT_LASTS(no.retry_after, 300ms);
  EXPECT_EQ(no.rate.limit, 10U);
  EXPECT_EQ(no.rate.remaining, 0U);
  EXPECT_LASTS(no.rate.retry_after, 300ms);
  EXPECT_LASTS(no.rate.reset_after, 1s);
}

TEST_P(RateLimiterSealTest, LetsEverybodyThroughWhoComesWhenToldTo) {  // 100, 26
  std::mt19937 random(7);
  for (const auto algorithm :
       {Rate::Algorithm::gcra, Rate::Algorithm::sliding_window, Rate::Algorithm::fixed_window}) {
    const Rate rate{.count = 7, .period = 1s, .algorithm = algorithm};
    const RateLimiterSeal seal(store(), "odd" + std::to_string(static_cast<int>(algorithm)),
                               {rate});
    for (int i = 0; i < 200; ++i) {
      const auto cost = static_cast<std::uint32_t>(random() % 7 + 1);
      const auto first = seal.try_acquire(cost);
      if (first) continue;
      ASSERT_GT(first.error().retry_after, 0us);
      after(first.error().retry_after - 1us);
      refused(seal.try_acquire(cost), Reason::rate);
      after(1us);
      granted(seal.try_acquire(cost));
    }
  }
}

TEST_P(RateLimiterSealTest, TakesNothingWhenItPeeks) {  // 25
  for (int i = 0; i < 20; ++i) EXPECT_EQ(granted(limiter_.peek()).rate.remaining, 10U);
  granted(limiter_.try_acquire(9));
  EXPECT_EQ(granted(limiter_.peek()).taken, 0U);
  EXPECT_LASTS(refused(limiter_.peek(2), Reason::rate).retry_after, 100ms);
  after(100ms);
  granted(limiter_.peek(2));
  granted(limiter_.try_acquire(2));
}

TEST_P(RateLimiterSealTest, TakesWhatThereIsOfAtMost) {
  EXPECT_EQ(granted(limiter_.try_acquire_at_most(6)).taken, 6U);
  EXPECT_EQ(granted(limiter_.try_acquire_at_most(100)).taken, 4U);
  EXPECT_LASTS(refused(limiter_.try_acquire_at_most(100), Reason::rate).retry_after, 100ms);
}

TEST_P(RateLimiterSealTest, ReservesForLater) {  // 23
  EXPECT_LASTS(granted(limiter_.reserve(5)).delay, 0s);
  EXPECT_LASTS(granted(limiter_.reserve(5)).delay, 0s);
  EXPECT_LASTS(granted(limiter_.reserve(5)).delay, 500ms);
  EXPECT_LASTS(granted(limiter_.reserve(5)).delay, 1s);
  refused(limiter_.try_acquire(), Reason::rate);
}

TEST_P(RateLimiterSealTest, ReservesNothingBeyondTheLongestDelay) {  // 24
  granted(limiter_.try_acquire(10));
  for (int i = 0; i < 3; ++i) {
    const Refused no = refused(limiter_.reserve(5, 499ms), Reason::rate);
    EXPECT_EQ(no.rate.limit, 10U);
    EXPECT_GT(no.retry_after, 0us);
  }
  EXPECT_LASTS(granted(limiter_.reserve(5, 500ms)).delay, 500ms);
}

TEST_P(RateLimiterSealTest, AnswersACostAboveTheBurstWithNever) {  // 24
  EXPECT_EQ(refused(limiter_.try_acquire(11), Reason::never).retry_after, kForever);
  refused(limiter_.reserve(11), Reason::never);
  refused(limiter_.peek(11), Reason::never);
  EXPECT_EQ(remaining("api", kTenPerSecond), 10U);
}

TEST_P(RateLimiterSealTest, DecidesSeveralTiersTogetherAndBurnsNothing) {  // 31, 101
  const RateLimiterSeal both(store(), "both", {kHundredPerHour, {.count = 2, .period = 1min}});
  granted(both.try_acquire());
  EXPECT_EQ(granted(both.try_acquire()).rate.limit, 2U);
  for (int i = 0; i < 6; ++i)
    EXPECT_LASTS(refused(both.try_acquire(), Reason::rate).retry_after, 30s);
  EXPECT_EQ(remaining("both", kHundredPerHour), 98U);
}

TEST_P(RateLimiterSealTest, ReservesOfSeveralTiersTheLongestDelay) {  // 31
  const RateLimiterSeal both(store(), "both", {kTenPerSecond, {.count = 2, .period = 1min}});
  granted(both.reserve());
  granted(both.reserve());
  EXPECT_LASTS(granted(both.reserve()).delay, 30s);
}

TEST_P(RateLimiterSealTest, CannotReserveOfAWindow) {
  const RateLimiterSeal window(store(), "window", {Rate::parse("5/1h,sliding")});
  EXPECT_THROW((void)window.reserve(), InvalidArgument);
}

TEST_P(RateLimiterSealTest, StartsAFixedWindowAtTheFirstHit) {  // 21
  const RateLimiterSeal window(store(), "window", {Rate::parse("2/1m,fixed")});
  after(17s);
  granted(window.try_acquire(2));
  after(59s);
  EXPECT_LASTS(refused(window.try_acquire(), Reason::rate).retry_after, 1s);
  after(1s);
  granted(window.try_acquire(2));
}

TEST_P(RateLimiterSealTest, CountsThePreviousWindowByItsOverlap) {  // 22
  const RateLimiterSeal window(store(), "window", {Rate::parse("10/12s,sliding")});
  bench().until_multiple_of(12s);
  granted(window.try_acquire(8));
  after(15s);
  EXPECT_EQ(granted(window.peek()).rate.remaining, 4U);
  refused(window.try_acquire(5), Reason::rate);
  granted(window.try_acquire(4));
}

TEST_P(RateLimiterSealTest, AlwaysPassesWithoutALimit) {  // 30
  const RateLimiterSeal open(store(), "open", {Rate::parse("unlimited")});
  for (int i = 0; i < 100; ++i) granted(open.try_acquire(1'000'000));
}

TEST_P(RateLimiterSealTest, NeitherGrantsNorRemovesWhenTheWallClockJumps) {  // 27
  granted(limiter_.try_acquire(4));
  bench().wall_jumps(-1h);
  EXPECT_EQ(granted(limiter_.peek()).rate.remaining, 6U);
  bench().wall_jumps(2h);
  EXPECT_EQ(granted(limiter_.peek()).rate.remaining, 6U);
}

TEST_P(RateLimiterSealTest, IsAsNewAfterAPurge) {  // 29
  granted(limiter_.try_acquire(10));
  EXPECT_TRUE(store().purge("api"));
  granted(limiter_.try_acquire(10));
}

TEST_P(RateLimiterSealTest, ChargesARetryAgainUnlessItDedupes) {
  granted(limiter_.try_acquire(1, named("ann")));
  granted(limiter_.try_acquire(1, named("ann")));
  EXPECT_EQ(remaining("api", kTenPerSecond), 8U);

  const RateLimiterSeal once(store(), "once", {kHundredPerHour}, 5s);
  store().drop_reply_next(1);
  EXPECT_THROW((void)once.try_acquire(3, named("ann")), SealAcquiringError);
  const Granted again = granted(once.try_acquire(3, named("ann")));
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.taken, 3U);
  granted(once.try_acquire(1, named("bob")));
  EXPECT_EQ(remaining("once", kHundredPerHour), 96U);
  granted(once.peek());
  granted(once.reserve());
}

TEST_P(RateLimiterSealTest, NeverCallsAFailingStoreExhausted) {  // 8
  store().fail_next(4, StoreError::Kind::unavailable);
  EXPECT_TRUE(cause_of<SealAcquiringError>([&] { (void)limiter_.try_acquire(); }));
  EXPECT_TRUE(cause_of<SealAcquiringError>([&] { (void)limiter_.peek(); }));
  EXPECT_TRUE(cause_of<SealAcquiringError>([&] { (void)limiter_.reserve(); }));
  EXPECT_TRUE(cause_of<SealAcquiringError>([&] { (void)limiter_.try_acquire_at_most(2); }));
  EXPECT_EQ(granted(limiter_.peek()).rate.remaining, 10U);
}

TEST_P(RateLimiterSealTest, NeverPassesItsLimitHoweverManyAsk) {  // 99
  const RateLimiterSeal window(store(), "window", {Rate::parse("20/1h,fixed")});
  std::atomic<int> passed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 32; ++j)
        if (window.try_acquire()) ++passed;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(passed, 20);
}

TEST_P(RateLimiterSealTest, SaysPausedWhenAnOperatorClosedTheGate) {
  store().pause("api", 5s);
  EXPECT_LASTS(refused(limiter_.try_acquire(), Reason::paused).retry_after, 5s);
}

TEST_P(RateLimiterSealTest, AWrongConfigurationShowsWhenTheSealIsMade) {
  const auto make = [&](std::vector<Rate> rates) {
    RateLimiterSeal(store(), "api", std::move(rates));
  };
  EXPECT_THROW(make({}), InvalidArgument);
  EXPECT_THROW(make({{.count = 0, .period = 1s}}), InvalidArgument);
  EXPECT_THROW(make({{.count = 1}}), InvalidArgument);
  EXPECT_THROW(make(std::vector<Rate>(kMaxRates + 1, Rate::parse("unlimited"))), InvalidArgument);
  EXPECT_EQ(store().calls(), 0U);
}

TEST_P(RateLimiterSealTest, TakesNothingForAWrongCall) {
  EXPECT_THROW((void)limiter_.try_acquire(0), InvalidArgument);
  EXPECT_THROW((void)limiter_.reserve(1, -1s), InvalidArgument);
  EXPECT_EQ(remaining("api", kTenPerSecond), 10U);
}

INSTANTIATE_TEST_SUITE_P(Stores, RateLimiterSealTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

}  // namespace
}  // namespace airlock::seals
