#include <gtest/gtest.h>

#include "store/shm/support/removals.hpp"

// The segment is removed while threads use it.

namespace airlock {
namespace {

TEST(ShmRemoved, WhatThreadsStillUseIsNotFreedAndNothingIsLeaked) {
  const RemovalResult result = run_removals({.threads = 16, .removals = 300});
  EXPECT_GT(result.admissions, 0U);
  EXPECT_EQ(result.unexpected_errors, 0U);
  EXPECT_LE(result.leaked_descriptors, 0);
  EXPECT_LE(result.leaked_mappings, 0);
}

}  // namespace
}  // namespace airlock
