#include <gtest/gtest.h>

#include "lincheck/support/trials.hpp"
#include "model/support/trial_seed.hpp"

namespace airlock::lincheck {
namespace {

TEST(LincheckMemory, WhatThreadsAreToldCanBeTrue) {
  check_threads(std::chrono::seconds(4), trial::trial_seed());
}

}  // namespace
}  // namespace airlock::lincheck
