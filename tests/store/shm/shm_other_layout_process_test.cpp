#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "airlock/error.hpp"
#include "store/shm/layout.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"
#include "support/paths.hpp"

// Two builds whose records differ, in one folder at a time.

namespace airlock {
namespace {

using ::testing::HasSubstr;

void use(const TempDir& dir) {
  const auto store = shm::make_store({.dir = dir.path(), .size = 16U << 20}, Clock::system());
  (void)store.list();
}

// What the other one says; empty: nothing is wrong.
std::string use_by(const std::string& program, const TempDir& dir) {
  const std::string command = "'" + program + "' '" + dir.path() + "'";
  FILE* said = popen(command.c_str(), "re");
  std::string text;
  for (std::array<char, 256> part; fgets(part.data(), part.size(), said) != nullptr;) {
    text += part.data();
  }
  EXPECT_EQ(pclose(said) == 0, text.empty());
  return text;
}

// Why this build does not use what is there.
std::string refusal(const TempDir& dir) {
  try {
    use(dir);
    ADD_FAILURE() << "it is used";
    return "";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::incompatible);
    return error.what();
  }
}

std::string has_and_wants(std::uint32_t has, std::uint32_t wants) {
  return "layout version " + std::to_string(has) + ", and this program has " +
         std::to_string(wants);
}

TEST(ShmOtherLayout, RefusesOurSegmentAndLeavesItAsItIs) {
  const TempDir dir;
  use(dir);
  EXPECT_THAT(use_by(testing::other_layout(), dir), HasSubstr("other record sizes"));
  EXPECT_NO_THROW(use(dir));
}

TEST(ShmOtherLayout, IsRefusedAndItsSegmentLeftAsItIs) {
  const TempDir dir;
  ASSERT_EQ(use_by(testing::other_layout(), dir), "");
  EXPECT_THAT(refusal(dir), HasSubstr("other record sizes"));
  EXPECT_EQ(use_by(testing::other_layout(), dir), "");
}

TEST(ShmOtherLayout, AnotherVersionIsRefusedByBoth) {
  constexpr std::uint32_t kOurs = shm::kLayoutVersion;
  const TempDir ours;
  use(ours);
  EXPECT_THAT(use_by(testing::older_layout(), ours), HasSubstr(has_and_wants(kOurs, kOurs - 1)));
  EXPECT_NO_THROW(use(ours)) << "it is as it was";

  const TempDir older;
  ASSERT_EQ(use_by(testing::older_layout(), older), "");
  EXPECT_THAT(refusal(older), HasSubstr(has_and_wants(kOurs - 1, kOurs)));
  EXPECT_THAT(refusal(older), HasSubstr("docs/upgrade.md"));
  EXPECT_EQ(use_by(testing::older_layout(), older), "") << "it is as it was";
}

}  // namespace
}  // namespace airlock
