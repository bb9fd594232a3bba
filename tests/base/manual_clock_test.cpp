#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/testing.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock::testing {
namespace {

using internal::SteppedClock;
using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

// A thread's wait as the keeper would do it: until a deadline, or until told to stop.
class Sleeper {
 public:
  explicit Sleeper(Clock& clock) : clock_(clock) {}

  void sleep_until(Instant deadline) {
    std::unique_lock lock(mutex_);
    while (!stopped_ && clock_.now() < deadline) clock_.wait_until(lock, changed_, deadline);
  }

  void stop() {
    const std::lock_guard guard(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

void await_waiting(const SteppedClock& clock, std::size_t count) {
  while (clock.waiting() != count) std::this_thread::yield();
}

TEST(SteppedClock, StandsStillUntilAdvanced) {
  SteppedClock clock;
  const Instant start = clock.now();
  const Instant wall = clock.wall();
  EXPECT_EQ(start, 1'000s);
  EXPECT_EQ(clock.now(), start);
  clock.advance(1500ms);
  EXPECT_EQ(clock.now(), start + 1500ms);
  EXPECT_EQ(clock.wall(), wall + 1500ms);
}

TEST(SteppedClock, TheWallJumpsAlone) {
  SteppedClock clock;
  const Instant start = clock.now();
  clock.set_wall(5s);
  EXPECT_EQ(clock.wall(), 5s);
  EXPECT_EQ(clock.now(), start);
  clock.advance(1s);
  EXPECT_EQ(clock.wall(), 6s);
}

TEST(SteppedClock, RefusesToGoBackAndStopsAtForever) {
  SteppedClock clock;
  EXPECT_THROW(clock.advance(-1us), InvalidArgument);
  clock.advance(kForever);
  EXPECT_EQ(clock.now(), kForever);
}

TEST(SteppedClock, APastDeadlineDoesNotWait) {
  SteppedClock clock;
  Sleeper(clock).sleep_until(clock.now());
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  clock.wait_until(lock, changed, clock.now());
  EXPECT_TRUE(lock.owns_lock());
}

TEST(SteppedClock, AdvanceWakesThoseWhoseTimeHasCome) {
  SteppedClock clock;
  Sleeper soon(clock);
  Sleeper later(clock);
  std::jthread first([&, deadline = clock.now() + 1s] { soon.sleep_until(deadline); });
  std::jthread second([&, deadline = clock.now() + 2s] { later.sleep_until(deadline); });
  await_waiting(clock, 2);
  clock.advance(1s);
  first.join();
  EXPECT_EQ(clock.waiting(), 1U);
  clock.advance(1s);
  second.join();
  EXPECT_EQ(clock.waiting(), 0U);
}

TEST(SteppedClock, ANotificationEndsAWaitBeforeItsTime) {
  SteppedClock clock;
  Sleeper sleeper(clock);
  std::jthread thread([&] { sleeper.sleep_until(kForever); });
  await_waiting(clock, 1);
  sleeper.stop();
  thread.join();
  EXPECT_EQ(clock.now(), 1'000s);
}

// The wait may begin at any moment of the advance; a lost wake-up would hang this test.
TEST(SteppedClock, NoWakeUpIsLostBetweenTheQuestionAndTheSleep) {
  constexpr int kRounds = 2'000;
  constexpr std::size_t kThreads = 4;
  SteppedClock clock;
  std::atomic<std::size_t> awake{kThreads};
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int round = 1; round <= kRounds; ++round) {
        Sleeper(clock).sleep_until(1'000s + round * 1ms);
      }
      --awake;
    });
  }
  for (int round = 1; round <= kRounds; ++round) clock.advance(1ms);
  while (awake != 0) std::this_thread::yield();
  EXPECT_EQ(clock.waiting(), 0U);
}

TEST(SteppedClock, SeveralThreadsMayAdvance) {
  SteppedClock clock;
  Sleeper sleeper(clock);
  std::jthread waiter([&] { sleeper.sleep_until(1'002s); });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) clock.advance(1ms);
      });
    }
  }
  waiter.join();
  EXPECT_EQ(clock.now(), 1'002s);
}

}  // namespace
}  // namespace airlock::testing
