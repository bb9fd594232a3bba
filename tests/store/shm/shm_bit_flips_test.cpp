#include <gtest/gtest.h>

#include "store/shm/support/bit_flips.hpp"

namespace airlock {
namespace {

TEST(BitFlips, NeverCrashNorHang) {
  const BitFlips::Result result = BitFlips{.stride = 211}.run();
  std::printf("%llu flips, %llu steps said that something is wrong\n",
              static_cast<unsigned long long>(result.flips),
              static_cast<unsigned long long>(result.errors));
  EXPECT_EQ(result.wrong, "");
  EXPECT_GT(result.flips, 500U);
}

}  // namespace
}  // namespace airlock
