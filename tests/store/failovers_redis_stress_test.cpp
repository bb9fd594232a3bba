#include <gtest/gtest.h>

#include <cstdlib>

#include "store/support/failover_trial.hpp"
#include "store/support/redis_sentinels.hpp"

namespace airlock::testing {
namespace {

// 200 with AIRLOCK_LONG.
TEST(Failovers, MayBeMany) {
  RedisSentinels sentinels;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  const int failovers = std::getenv("AIRLOCK_LONG") != nullptr ? 200 : 20;
  for (int i = 0; i < failovers && !::testing::Test::HasFailure(); ++i) {
    try_failover(sentinels, i % 2 == 0 ? Loss::killed : Loss::stopped);
  }
}

}  // namespace
}  // namespace airlock::testing
