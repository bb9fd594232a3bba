#include <gtest/gtest.h>

#include "store/support/bit_flips.hpp"

namespace airlock {
namespace {

TEST(BitFlipsStress, AtEveryByteNeverCrashNorHang) {
  const BitFlips::Result result = BitFlips{.stride = 1, .seed = 2}.run();
  std::printf("%llu flips, %llu steps said that something is wrong\n",
              static_cast<unsigned long long>(result.flips),
              static_cast<unsigned long long>(result.errors));
  EXPECT_EQ(result.wrong, "");
}

}  // namespace
}  // namespace airlock
