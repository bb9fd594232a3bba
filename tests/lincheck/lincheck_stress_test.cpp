#include <gtest/gtest.h>

#include "lincheck/support/long_time.hpp"
#include "lincheck/support/trials.hpp"
#include "model/support/trial_seed.hpp"

// As lincheck_memory_test.cpp and lincheck_shm_process_test.cpp, for longer.

namespace airlock::lincheck {
namespace {

TEST(LincheckForLong, WhatThreadsAreToldCanBeTrue) {
  check_threads(long_time(), trial::trial_seed());
}

TEST(LincheckForLong, WhatProcessesAreToldCanBeTrueWhoeverIsKilled) {
  check_killed_processes(long_time(), trial::trial_seed());
}

}  // namespace
}  // namespace airlock::lincheck
