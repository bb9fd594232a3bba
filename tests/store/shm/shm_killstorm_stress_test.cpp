#include <gtest/gtest.h>

#include "model/support/trial_seed.hpp"
#include "store/support/kill_storm.hpp"
#include "support/chaos.hpp"

namespace airlock {
namespace {

// With `./dev chaos --long` all of them, else as many as fit into a minute.
TEST(KillStormStress, AMillionKills) {
  const bool all = testing::takes_its_time();
  const KillStorm storm{.kills = 1'000'000,
                        .at_most = std::chrono::seconds(all ? 7200 : 60),
                        .seed = trial::trial_seed()};
  const KillStorm::Result result = storm.run();
  std::printf("%s\n", result.text().c_str());
  EXPECT_EQ(result.wrong, "");
  if (all) {
    EXPECT_EQ(result.kills, storm.kills);
  }
  testing::ChaosRow{.scenario = "kill -9 storm (shm)",
                    .faults = result.kills,
                    .operations = result.steps,
                    .over_admissions = result.over_admissions,
                    .leaks = result.leaks,
                    .hangs = result.hangs}
      .report();
}

}  // namespace
}  // namespace airlock
