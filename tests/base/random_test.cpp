#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "airlock/token.hpp"
#include "base/fork.hpp"

namespace airlock::base {
namespace {

TEST(Random, FillsAnySize) {
  for (const std::size_t size : {0U, 1U, 15U, 511U, 512U, 513U, 5'000U}) {
    std::vector<std::byte> bytes(size + 1, std::byte{0});
    random_bytes(std::span(bytes).first(size));
    EXPECT_EQ(bytes.back(), std::byte{0});
    const auto zeros = std::count(bytes.begin(), bytes.end() - 1, std::byte{0});
    EXPECT_LT(zeros, static_cast<std::ptrdiff_t>(size / 20 + 4)) << size;
  }
}

TEST(Random, EveryBitIsSetHalfOfTheTime) {
  constexpr int kDraws = 20'000;
  std::array<int, 64> set{};
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t value = random64();
    for (std::size_t bit = 0; bit < 64; ++bit) set[bit] += static_cast<int>(value >> bit & 1);
  }
  for (const int count : set) EXPECT_NEAR(count, kDraws / 2, kDraws / 20);
}

TEST(Random, SeedsOfDrawsAreFrom1To2To31Less2) {
  std::uint32_t seen = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint32_t seed = random31();
    ASSERT_GE(seed, 1U);
    ASSERT_LE(seed, 0x7ffffffeU);
    seen |= seed;
  }
  EXPECT_EQ(seen, 0x7fffffffU);
}

TEST(Random, ThreadsShareNothing) {
  constexpr int kEach = 5'000;
  std::mutex mutex;
  std::set<VisitorId> seen;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        std::vector<VisitorId> own(kEach);
        std::generate(own.begin(), own.end(), VisitorId::random);
        const std::lock_guard guard(mutex);
        seen.insert(own.begin(), own.end());
      });
    }
  }
  EXPECT_EQ(seen.size(), 4U * kEach);
}

TEST(ForkGeneration, IsOneAndTheSameForAllThreads) {
  const std::uint64_t generation = fork_generation();
  EXPECT_NE(generation, 0U);
  std::jthread([&] { EXPECT_EQ(fork_generation(), generation); }).join();
  EXPECT_EQ(fork_generation(), generation);
}

}  // namespace
}  // namespace airlock::base
