#include <gtest/gtest.h>

#include "lincheck/support/redis_trials.hpp"
#include "model/support/trial_seed.hpp"

namespace airlock::lincheck {
namespace {

using namespace std::chrono_literals;

TEST(LincheckRedis, WhatThreadsAreToldCanBeTrueWhateverRepliesAreLost) {
  check_redis_with_lost_replies(2500ms, trial::trial_seed());
}

TEST(LincheckRedis, WhatProcessesAreToldCanBeTrueWhoeverIsKilled) {
  check_redis_with_killed_processes(2500ms, trial::trial_seed());
}

}  // namespace
}  // namespace airlock::lincheck
