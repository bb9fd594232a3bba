#include "store/redis/support/trial.hpp"

// The scripts against the rules, over random sequences of steps.

namespace airlock::trial {
namespace {

TEST(ScriptsAtRandom, AnswerAsTheRulesDo) { try_redis_at_random(20'000); }

TEST(ScriptsAtRandom, AnswerAsTheRulesDoByTheirShortWays) { try_redis_at_random(10'000, true); }

// Nobody looks in between, so that the steps themselves find what has run out.
TEST(ScriptsAtRandom, AnswerAsTheRulesDoWhereNobodyHasLooked) {
  try_redis_at_random(10'000, false, 64);
}

}  // namespace
}  // namespace airlock::trial
