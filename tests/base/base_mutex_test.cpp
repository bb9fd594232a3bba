#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/mutex.hpp"

namespace airlock::base {
namespace {

TEST(BaseMutexTest, LetsOneThreadInAtATime) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20'000;
  Mutex mutex;
  std::int64_t count = 0;  // Not atomic: a second thread inside would lose additions.
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const std::lock_guard lock(mutex);
        ++count;
        if (round % 1'000 == 0) std::this_thread::yield();  // Others meet it locked, and sleep.
      }
    });
  }
  threads.clear();
  EXPECT_EQ(count, std::int64_t{kThreads} * kRounds);
}

}  // namespace
}  // namespace airlock::base
