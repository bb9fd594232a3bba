#include "formats/support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Whether a changed format is noticed, and what ./dev golden may store.

namespace airlock::formats {
namespace {

using ::testing::HasSubstr;

const std::string kStored = "leaf, version 2\n\nword 8\n";

Format leaf(int version) { return {.name = "leaf", .version = version, .version_is_in = "kLeaf"}; }

TEST(Golden, WhatIsTheSameIsFine) {
  for (const bool is_update : {false, true}) {
    const Verdict verdict = judge(leaf(2), kStored, "word 8\n", is_update);
    EXPECT_EQ(verdict.complaint, "");
    EXPECT_FALSE(verdict.store);
  }
}

TEST(Golden, AChangeNeedsANewVersionAlsoWhenItIsToBeStored) {
  for (const bool is_update : {false, true}) {
    const Verdict verdict = judge(leaf(2), kStored, "word 4\n", is_update);
    EXPECT_THAT(verdict.complaint, HasSubstr("Raise kLeaf"));
    EXPECT_THAT(verdict.complaint, HasSubstr("was: word 8\n  is:  word 4"));
    EXPECT_FALSE(verdict.store);
  }
}

TEST(Golden, WithANewVersionItIsStoredWhenAskedFor) {
  EXPECT_THAT(judge(leaf(3), kStored, "word 4\n", false).complaint, HasSubstr("./dev golden"));
  const Verdict verdict = judge(leaf(3), kStored, "word 4\n", true);
  EXPECT_EQ(verdict.complaint, "");
  EXPECT_TRUE(verdict.store);
}

TEST(Golden, ANewVersionIsStoredAlsoWhereNothingElseHasChanged) {
  EXPECT_THAT(judge(leaf(3), kStored, "word 8\n", false).complaint, HasSubstr("./dev golden"));
  EXPECT_TRUE(judge(leaf(3), kStored, "word 8\n", true).store);
}

TEST(Golden, AVersionDoesNotGoBack) {
  const Verdict verdict = judge(leaf(1), kStored, "word 4\n", true);
  EXPECT_THAT(verdict.complaint, HasSubstr("only grow"));
  EXPECT_FALSE(verdict.store);
}

TEST(Golden, TheFirstOneIsStored) {
  EXPECT_THAT(judge(leaf(1), "", "word 8\n", false).complaint, HasSubstr("is not there"));
  EXPECT_TRUE(judge(leaf(1), "", "word 8\n", true).store);
}

}  // namespace
}  // namespace airlock::formats
