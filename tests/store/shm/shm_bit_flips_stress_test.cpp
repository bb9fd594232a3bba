#include <gtest/gtest.h>

#include "store/shm/support/bit_flips.hpp"
#include "support/chaos.hpp"

namespace airlock {
namespace {

// At every byte with `./dev chaos --long`, else at every 20th.
TEST(BitFlipsStress, AtEveryByteNeverCrashNorHang) {
  const BitFlips::Result result =
      BitFlips{.stride = testing::takes_its_time() ? 1U : 20U, .seed = 2}.run();
  std::printf("%llu flips, %llu steps said that something is wrong\n",
              static_cast<unsigned long long>(result.flips),
              static_cast<unsigned long long>(result.errors));
  EXPECT_EQ(result.wrong, "");
  testing::ChaosRow{
      .scenario = "bit flips (shm)", .faults = result.flips, .operations = result.flips}
      .report();
}

}  // namespace
}  // namespace airlock
