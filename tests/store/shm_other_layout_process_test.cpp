#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "airlock/error.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"

// Two builds whose records differ, in one folder at a time.

namespace airlock {
namespace {

using ::testing::HasSubstr;

void use(const TempDir& dir) {
  const auto store = shm::make_store({.dir = dir.path(), .size = 16U << 20}, Clock::system());
  (void)store->list();
}

// What the other one says; empty: nothing is wrong.
std::string use_by_other(const TempDir& dir) {
  const std::string command = AIRLOCK_OTHER_LAYOUT " " + dir.path();
  FILE* said = popen(command.c_str(), "re");
  std::string text;
  for (std::array<char, 256> part; fgets(part.data(), part.size(), said) != nullptr;) {
    text += part.data();
  }
  EXPECT_EQ(pclose(said) == 0, text.empty());
  return text;
}

TEST(ShmOtherLayout, RefusesOurSegmentAndLeavesItAsItIs) {
  const TempDir dir;
  use(dir);
  EXPECT_THAT(use_by_other(dir), HasSubstr("other record sizes"));
  EXPECT_NO_THROW(use(dir));
}

TEST(ShmOtherLayout, IsRefusedAndItsSegmentLeftAsItIs) {
  const TempDir dir;
  ASSERT_EQ(use_by_other(dir), "");
  try {
    use(dir);
    ADD_FAILURE() << "it is used";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::incompatible);
    EXPECT_THAT(error.what(), HasSubstr("other record sizes"));
  }
  EXPECT_EQ(use_by_other(dir), "");
}

}  // namespace
}  // namespace airlock
