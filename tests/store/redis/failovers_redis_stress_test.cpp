#include <gtest/gtest.h>

#include "store/redis/support/failover_trial.hpp"
#include "store/redis/support/sentinels.hpp"

namespace airlock::testing {
namespace {

TEST(Failovers, MayBeMany) {
  RedisSentinels sentinels;
  ChaosRow row{.scenario = "failovers (redis+sentinel)"};
  const int failovers = takes_its_time() ? 200 : 6;
  for (int i = 0; i < failovers && !::testing::Test::HasFailure(); ++i) {
    row += try_failover(sentinels, i % 2 == 0 ? Loss::killed : Loss::stopped);
  }
  row.report();
}

}  // namespace
}  // namespace airlock::testing
