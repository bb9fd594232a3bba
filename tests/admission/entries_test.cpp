#include "admission/support/entries.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

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
  expect_limit_kept(GetParam(), 64, kEntries);
}

TEST_P(Entries, SixteenThreadsComeInInOrderOfArrival) {
  expect_order_kept(GetParam(), 16, kEntries / 4);
}

INSTANTIATE_TEST_SUITE_P(Limits, Entries, ::testing::Values(1, 3, 10));

// Who gives up at the very moment of its turn does not take the turn with it.
TEST(EntriesThatGiveUp, NeverSwallowAHandOver) {
  const Airlock airlock(open_store("memory:"), "erp", {.limit = 1, .max_wait = 10min});
  std::atomic<int> entered = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int entry = 0; entry < kEntries / 4; ++entry) {
          const Duration wait = i % 2 == 0 ? Duration(100 + entry % 400) : Duration(10min);
          if (airlock.try_enter_for(wait)) ++entered;
        }
      });
    }
  }
  EXPECT_GE(entered, 4 * (kEntries / 4)) << "those with patience all came in";
  EXPECT_TRUE(airlock.try_enter()) << "and nothing is left inside";
}

}  // namespace
}  // namespace airlock
