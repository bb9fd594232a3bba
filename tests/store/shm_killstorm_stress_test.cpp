#include <gtest/gtest.h>

#include "store/support/kill_storm.hpp"

namespace airlock {
namespace {

TEST(KillStormStress, AMillionKillsOrAsManyAsFitIntoNineMinutes) {
  const KillStorm storm{.kills = 1'000'000, .at_most = std::chrono::minutes(9), .seed = 2};
  const KillStorm::Result result = storm.run();
  std::printf("%s\n", result.text().c_str());
  EXPECT_EQ(result.wrong, "");
}

}  // namespace
}  // namespace airlock
