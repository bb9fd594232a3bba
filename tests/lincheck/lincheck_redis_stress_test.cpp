#include <gtest/gtest.h>

#include "lincheck/support/long_time.hpp"
#include "lincheck/support/redis_trials.hpp"
#include "model/support/trial_seed.hpp"

// As lincheck_redis_test.cpp, for longer.

namespace airlock::lincheck {
namespace {

TEST(LincheckRedisForLong, WhatThreadsAreToldCanBeTrueWhateverRepliesAreLost) {
  check_redis_with_lost_replies(long_time(), trial::trial_seed());
}

TEST(LincheckRedisForLong, WhatProcessesAreToldCanBeTrueWhoeverIsKilled) {
  check_redis_with_killed_processes(long_time(), trial::trial_seed());
}

}  // namespace
}  // namespace airlock::lincheck
