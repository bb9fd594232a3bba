#include <gtest/gtest.h>

#include "store/support/kill_storm.hpp"

namespace airlock {
namespace {

void print(const KillStorm::Result& result) {
  std::printf(
      "%llu kills in %lld ms, %llu steps, %llu grants, %llu of them checked, longest step %lld "
      "ms\n",
      static_cast<unsigned long long>(result.kills), static_cast<long long>(result.took.count()),
      static_cast<unsigned long long>(result.steps), static_cast<unsigned long long>(result.grants),
      static_cast<unsigned long long>(result.checks),
      static_cast<long long>(result.longest_step.count()));
}

TEST(KillStorm, NobodyGetsInTooManyNothingLeaksAndNothingHangs) {
  const KillStorm::Result result = KillStorm{}.run();
  print(result);
  EXPECT_EQ(result.wrong, "");
  EXPECT_GT(result.checks, result.grants / 10) << "the checker sees too little";
}

}  // namespace
}  // namespace airlock
