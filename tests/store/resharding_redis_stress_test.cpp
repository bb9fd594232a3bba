#include <gtest/gtest.h>

#include "store/support/redis_cluster.hpp"
#include "store/support/resharding_trial.hpp"

namespace airlock::testing {
namespace {

TEST(Resharding, IsUnnoticedByAHundredThousandVisits) {
  RedisCluster cluster;
  ReshardingTrial(cluster).run(100'000);
}

}  // namespace
}  // namespace airlock::testing
