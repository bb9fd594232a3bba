#include <gtest/gtest.h>

#include "store/support/crash_walks.hpp"

namespace airlock {
namespace {

TEST(CrashStress, AtThirtyThousandInstructionsLeavesNothingThatIsNotRepaired) {
  constexpr std::uint64_t kCrashes = 4'000;
  std::uint64_t crashes = 0;
  for (const CrashWalk& walk : crash_walks()) {
    const CrashWalk::Result result = walk.run(kCrashes, 2);
    crashes += result.crashes;
    EXPECT_EQ(result.wrong, "");
    std::printf("%s: %llu crashes at %llu instructions\n", walk.name,
                static_cast<unsigned long long>(result.crashes),
                static_cast<unsigned long long>(result.instructions));
  }
  EXPECT_GE(crashes, 30'000U);
}

}  // namespace
}  // namespace airlock
