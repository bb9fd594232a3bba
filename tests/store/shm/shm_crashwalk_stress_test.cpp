#include <gtest/gtest.h>

#include <string_view>

#include "model/support/trial_seed.hpp"
#include "store/shm/support/crash_walks.hpp"
#include "support/chaos.hpp"

namespace airlock {
namespace {

// What somebody who came after the crash complains of.
void sort_in(testing::ChaosRow& row, std::string_view wrong) {
  const auto says = [&](std::string_view text) { return wrong.find(text) != wrong.npos; };
  if (wrong.empty()) return;
  if (says("more than") || says("is gone")) {
    ++*row.over_admissions;
  } else if (says("waiting are") || says("is not in")) {
    ++*row.order_violations;
  } else {
    ++*row.leaks;
  }
}

// With `./dev chaos --long`, else at a tenth of them.
TEST(CrashStress, AtThirtyThousandInstructionsLeavesNothingThatIsNotRepaired) {
  const std::uint64_t all = testing::takes_its_time() ? 4'000 : 400;
  const std::uint64_t seed = trial::trial_seed();
  testing::ChaosRow row{.scenario = "death at any instruction (shm)",
                        .over_admissions = 0,
                        .leaks = 0,
                        .order_violations = 0};
  for (const CrashWalk& walk : crash_walks()) {
    const CrashWalk::Result result = walk.run(all, seed);
    row.faults += result.crashes + result.kills;
    sort_in(row, result.wrong);
    EXPECT_EQ(result.wrong, "");
    std::printf("%s: %llu crashes at %llu instructions\n", walk.name,
                static_cast<unsigned long long>(result.crashes),
                static_cast<unsigned long long>(result.instructions));
  }
  row.operations = row.faults;  // Each is looked at by somebody who comes after.
  EXPECT_GE(row.faults, all == 4'000 ? 30'000U : 3'000U);
  row.report();
}

}  // namespace
}  // namespace airlock
