#include <gtest/gtest.h>

#include "lincheck/support/redis_trials.hpp"
#include "model/support/trial_seed.hpp"

namespace airlock::lincheck {
namespace {

TEST(LincheckRedis, WhatThreadsAreToldCanBeTrueWhateverRepliesAreLost) {
  check_redis_with_lost_replies(std::chrono::seconds(4), trial::trial_seed());
}

}  // namespace
}  // namespace airlock::lincheck
