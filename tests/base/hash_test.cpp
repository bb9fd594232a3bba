#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <unordered_set>
#include <vector>

namespace airlock::base {
namespace {

constexpr std::uint64_t kSeed = 0x123456789abcdef0;

// How often each output bit changes when one input bit of many keys of one size is flipped.
std::array<int, 64> flips(std::size_t size, std::size_t bit, int keys) {
  std::array<int, 64> counts{};
  for (int k = 0; k < keys; ++k) {
    std::string key(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
      key[i] = static_cast<char>(hash(static_cast<std::uint64_t>(k), i, 7));
    }
    const std::uint64_t seed = hash(static_cast<std::uint64_t>(k), size, 8);
    const std::uint64_t before = hash(key, seed);
    key[bit / 8] = static_cast<char>(key[bit / 8] ^ (1 << (bit % 8)));
    const std::uint64_t changed = before ^ hash(key, seed);
    for (std::size_t out = 0; out < 64; ++out) counts[out] += static_cast<int>(changed >> out & 1);
  }
  return counts;
}

TEST(Hash, EveryInputBitChangesEveryOutputBitHalfOfTheTime) {
  constexpr int kKeys = 2'000;
  for (const std::size_t size : {1U, 3U, 4U, 7U, 8U, 9U, 16U, 17U, 33U, 40U}) {
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      for (const int count : flips(size, bit, kKeys)) {
        ASSERT_GT(count, kKeys * 4 / 10) << "size " << size << " bit " << bit;
        ASSERT_LT(count, kKeys * 6 / 10) << "size " << size << " bit " << bit;
      }
    }
  }
}

TEST(Hash, SizesAndSeedsMatter) {
  std::unordered_set<std::uint64_t> seen;
  const std::string zeros(200, '\0');
  for (std::size_t size = 0; size <= 200; ++size) {
    EXPECT_TRUE(seen.insert(hash(std::string_view(zeros).substr(0, size), kSeed)).second);
    EXPECT_TRUE(seen.insert(hash(std::string_view(zeros).substr(0, size), kSeed + 1)).second);
  }
}

TEST(Hash, TwoWordsMatterInTheirOrder) {
  EXPECT_NE(hash(1, 2, kSeed), hash(2, 1, kSeed));
  EXPECT_NE(hash(1, 2, kSeed), hash(1, 2, kSeed + 1));
  EXPECT_EQ(hash(1, 2, kSeed), hash(1, 2, kSeed));
}

TEST(Hash, NumberedNamesSpreadEvenlyOverATable) {
  constexpr std::size_t kBuckets = 1'024;
  constexpr int kPerBucket = 100;
  std::vector<int> low(kBuckets);
  std::vector<int> high(kBuckets);
  for (std::size_t i = 0; i < kBuckets * kPerBucket; ++i) {
    const std::uint64_t value = hash("orders:" + std::to_string(i), kSeed);
    ++low[value % kBuckets];
    ++high[value >> 54];
  }
  for (std::size_t i = 0; i < kBuckets; ++i) {
    EXPECT_LT(low[i], 2 * kPerBucket);
    EXPECT_LT(high[i], 2 * kPerBucket);
  }
}

}  // namespace
}  // namespace airlock::base
