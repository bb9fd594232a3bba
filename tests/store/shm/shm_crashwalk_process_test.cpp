#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "store/shm/support/crash_walks.hpp"

namespace airlock {

// NOLINTNEXTLINE(readability-identifier-naming): gtest looks for this name
static void PrintTo(const CrashWalk& walk, std::ostream* out) { *out << walk.name; }

namespace {

class Crash : public ::testing::TestWithParam<CrashWalk> {};

TEST_P(Crash, AtAnyInstructionLeavesNothingThatIsNotRepaired) {
  constexpr std::uint64_t kCrashes = 270;
  const CrashWalk::Result result = GetParam().run(kCrashes, 1);
  std::printf("%llu crashes at %llu instructions\n",
              static_cast<unsigned long long>(result.crashes),
              static_cast<unsigned long long>(result.instructions));
  EXPECT_EQ(result.wrong, "");
  EXPECT_GE(result.crashes, std::min(kCrashes, result.instructions) / 2);
}

std::string name_of(const ::testing::TestParamInfo<CrashWalk>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Steps, Crash, ::testing::ValuesIn(crash_walks()), name_of);

}  // namespace
}  // namespace airlock
