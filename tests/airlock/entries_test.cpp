#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "airlock/airlock.hpp"
#include "airlock/error.hpp"

// Real threads in real time: nobody over the limit, nobody out of order, nobody forgotten.

namespace airlock {
namespace {

using namespace std::chrono_literals;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kEntries = 100;
#else
constexpr int kEntries = 1'000;
#endif

class Entries : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Entries, SixtyFourThreadsAreNeverMoreThanTheLimitAllows) {
  const std::uint32_t limit = GetParam();
  const Airlock airlock(open_store("memory:"), "erp", {.limit = limit, .max_wait = 10min});
  std::atomic<std::uint32_t> inside = 0;
  std::atomic<std::uint32_t> peak = 0;
  std::atomic<int> entered = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < 64; ++i) {
      threads.emplace_back([&, weight = 1 + i % limit] {
        for (int entry = 0; entry < kEntries; ++entry) {
          const Outcome<Lease> lease = airlock.enter({.weight = weight});
          if (!lease) continue;
          const std::uint32_t now = inside += weight;
          for (std::uint32_t seen = peak; seen < now && !peak.compare_exchange_weak(seen, now);) {
          }
          ++entered;
          inside -= weight;
        }
      });
    }
  }
  EXPECT_EQ(entered, 64 * kEntries);
  EXPECT_LE(peak, limit);
}

INSTANTIATE_TEST_SUITE_P(Limits, Entries, ::testing::Values(1, 3, 10));

TEST(EntriesInOrder, ThoseWhoCameLaterHaveHigherFences) {
  const Airlock airlock(open_store("memory:"), "erp", {.limit = 1, .max_wait = 10min});
  std::atomic<std::uint64_t> ticket = 0;
  std::atomic<int> inversions = 0;
  std::vector<std::uint64_t> order;
  std::mutex arrival;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        for (int entry = 0; entry < kEntries / 4; ++entry) {
          std::unique_lock lock(arrival);
          const std::uint64_t mine = ++ticket;
          Place place = airlock.join();
          lock.unlock();
          const Outcome<Lease> lease = place.wait();
          if (!lease || (!order.empty() && order.back() > mine)) ++inversions;
          order.push_back(mine);
        }
      });
    }
  }
  EXPECT_EQ(inversions, 0);
  EXPECT_EQ(order.size(), 16U * (kEntries / 4));
}

// Who gives up at the very moment of its turn does not take the turn with it.
TEST(EntriesInOrder, ATimeOutNeverSwallowsAHandOver) {
  const Airlock airlock(open_store("memory:"), "erp", {.limit = 1, .max_wait = 10min});
  std::atomic<int> entered = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int entry = 0; entry < kEntries / 4; ++entry) {
          const Duration wait = i % 2 == 0 ? Duration(100 + entry % 400) : Duration(10min);
          if (airlock.enter({.max_wait = wait})) ++entered;
        }
      });
    }
  }
  EXPECT_GE(entered, 4 * (kEntries / 4)) << "those with patience all came in";
  EXPECT_TRUE(airlock.try_enter()) << "and nothing is left inside";
}

}  // namespace
}  // namespace airlock
