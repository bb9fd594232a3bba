#include <gtest/gtest.h>

#include "store/support/kill_storm.hpp"

namespace airlock {
namespace {

TEST(KillStorm, NobodyGetsInTooManyNothingLeaksAndNothingHangs) {
  const KillStorm::Result result = KillStorm{}.run();
  std::printf("%s\n", result.text().c_str());
  EXPECT_EQ(result.wrong, "");
  EXPECT_GT(result.checks, result.grants / 10) << "the checker sees too little";
}

}  // namespace
}  // namespace airlock
