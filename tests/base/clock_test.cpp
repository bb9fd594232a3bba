#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <thread>

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

TEST(SystemClock, NeverGoesBack) {
  Instant last = Clock::system().now();
  for (int i = 0; i < 100'000; ++i) {
    const Instant now = Clock::system().now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, TheWallIsTheTimeOfDay) {
  const Duration off = Clock::system().wall() - std::chrono::seconds(std::time(nullptr));
  EXPECT_LT(off, 2s);
  EXPECT_GT(off, -2s);
}

TEST(SystemClock, AWaitEndsAtItsDeadline) {
  Clock& clock = Clock::system();
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  const Instant deadline = clock.now() + 20ms;
  while (clock.now() < deadline) clock.wait_until(lock, changed, deadline);
  EXPECT_LT(clock.now(), deadline + 5s);
}

TEST(SystemClock, APastDeadlineDoesNotWait) {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  for (const Instant deadline : {Instant{0}, Instant{-1}, Instant::min()}) {
    Clock::system().wait_until(lock, changed, deadline);
    EXPECT_TRUE(lock.owns_lock());
  }
}

// A wait that overflowed would return at once, over and over.
TEST(SystemClock, AWaitWithoutEndEndsWithItsNotification) {
  for (const Instant deadline :
       {kForever, kForever - 1us, Instant(INT64_MAX / 1000), Instant(INT64_MAX / 1000 + 1)}) {
    std::mutex mutex;
    std::condition_variable changed;
    bool notified = false;
    std::unique_lock lock(mutex);
    std::jthread notifier([&] {
      const std::lock_guard guard(mutex);
      notified = true;
      changed.notify_all();
    });
    int wakes = 0;
    while (!notified) {
      Clock::system().wait_until(lock, changed, deadline);
      ++wakes;
    }
    EXPECT_LE(wakes, 100);
    lock.unlock();
  }
}

}  // namespace
}  // namespace airlock
