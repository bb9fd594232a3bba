#include <gtest/gtest.h>

#include <cstdlib>

#include "store/support/kill_storm.hpp"

namespace airlock {
namespace {

// With `./dev chaos --long` all of them, else as many as fit into four minutes.
TEST(KillStormStress, AMillionKills) {
  const bool all = std::getenv("AIRLOCK_LONG") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const KillStorm storm{
      .kills = 1'000'000, .at_most = std::chrono::minutes(all ? 28 : 4), .seed = 2};
  const KillStorm::Result result = storm.run();
  std::printf("%s\n", result.text().c_str());
  EXPECT_EQ(result.wrong, "");
  if (all) {
    EXPECT_EQ(result.kills, storm.kills);
  }
}

}  // namespace
}  // namespace airlock
