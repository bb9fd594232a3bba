#include "store/redis/support/trial.hpp"
#include "support/chaos.hpp"

// The scripts against the rules, over random sequences of steps.

namespace airlock::trial {
namespace {

TEST(ScriptsAtRandom, AnswerAsTheRulesDo) {
  try_redis_at_random(testing::takes_its_time() ? 500'000 : 20'000);
}

TEST(ScriptsAtRandom, AnswerAsTheRulesDoByTheirShortWays) {
  try_redis_at_random(testing::takes_its_time() ? 500'000 : 20'000, true);
}

}  // namespace
}  // namespace airlock::trial
