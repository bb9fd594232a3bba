#include <gtest/gtest.h>

#include "store/redis/support/cluster.hpp"
#include "store/redis/support/resharding_trial.hpp"

namespace airlock::testing {
namespace {

// A hundred thousand with `./dev chaos --long`.
TEST(Resharding, IsUnnoticedByAHundredThousandVisits) {
  // Nobody is lost here: a node that is not let run for a while must not be taken for dead.
  RedisCluster cluster({"--cluster-node-timeout", "15000"});
  ReshardingTrial trial(cluster);
  trial.run(takes_its_time() ? 100'000 : 20'000);
  trial.row("slots that move (redis+cluster)").report();
}

}  // namespace
}  // namespace airlock::testing
