#include "base/breaker.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "airlock/testing.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock::base {
namespace {

using namespace std::chrono_literals;

class BreakerTest : public ::testing::Test {
 protected:
  bool allows() { return breaker_.allows(clock_, 5s); }
  void fail() { breaker_.failed(clock_); }

  // How long nobody is allowed to ask.
  Duration pause() {
    Duration passed{0};
    for (; !allows(); passed += 1ms) clock_.advance(1ms);
    return passed;
  }

  airlock::internal::SteppedClock clock_;
  Breaker breaker_{10ms, 1s};
};

TEST_F(BreakerTest, AllowsEverybodyWhileItWorks) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(allows());
  breaker_.succeeded();
  EXPECT_TRUE(allows());
}

TEST_F(BreakerTest, PausesLongerEachTimeUpToABound) {
  fail();
  for (Duration most = 10ms; most < 3s; most *= 2) {
    const Duration taken = pause();
    EXPECT_GE(taken, std::min<Duration>(most, 1s) / 2 - 1ms);
    EXPECT_LE(taken, std::min<Duration>(most, 1s) + 1ms);
    fail();
  }
}

TEST_F(BreakerTest, AllowsOneAtATimeAfterAFailure) {
  fail();
  (void)pause();
  clock_.advance(4s);
  EXPECT_FALSE(allows());
  clock_.advance(1s);  // The one who tries has not said anything for so long.
  EXPECT_TRUE(allows());
  EXPECT_FALSE(allows());
}

TEST_F(BreakerTest, IsAsBeforeAfterASuccess) {
  for (int i = 0; i < 5; ++i) {
    fail();
    (void)pause();
  }
  breaker_.succeeded();
  EXPECT_TRUE(allows());
  EXPECT_TRUE(allows());
  fail();
  EXPECT_LE(pause(), 11ms);
}

TEST_F(BreakerTest, FailuresThatCameTogetherCountOnce) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(allows());
  for (int i = 0; i < 10; ++i) fail();
  EXPECT_LE(pause(), 11ms);
  fail();
  EXPECT_LE(pause(), 21ms);
}

}  // namespace
}  // namespace airlock::base
