#include <gtest/gtest.h>

#include "store/shm/support/removals.hpp"
#include "support/chaos.hpp"

namespace airlock::testing {
namespace {

TEST(ShmRemovedStress, TenThousandRemovalsUnderSixteenThreads) {
  const RemovalPlan plan{.threads = 16, .removals = takes_its_time() ? 100'000 : 10'000};
  const RemovalResult result = run_removals(plan);
  EXPECT_EQ(result.unexpected_errors, 0U);
  const auto leaks = std::max<std::int64_t>(result.leaked_descriptors, 0) +
                     std::max<std::int64_t>(result.leaked_mappings, 0);
  ChaosRow{.scenario = "segment removed in use (shm)",
           .faults = static_cast<std::uint64_t>(plan.removals),
           .operations = result.admissions,
           .leaks = static_cast<std::uint64_t>(leaks)}
      .report();
}

}  // namespace
}  // namespace airlock::testing
