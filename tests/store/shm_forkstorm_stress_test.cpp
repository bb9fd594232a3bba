#include <gtest/gtest.h>

#include "model/support/trial_seed.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/storm.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;

// They fork while they hold, wait and are in the middle of a step, and are killed while their
// children live. The ttl is long: nothing that a dead process had may last so long.
TEST(ForkStorm, ChildrenOwnNothingOfTheirParents) {
  const std::uint64_t seed = trial::trial_seed();
  ChaosRow row{.scenario = "fork storm (shm)"};
  const int rounds = takes_its_time() ? 60 : 2;
  for (int round = 0; round < rounds; ++round) {
    TempDir dir;
    Storm storm({.open =
                     [&] {
                       return shm::make_store({.dir = dir.path(), .timeout = 500ms},
                                              Clock::system());
                     },
                 .limit = round % 2 == 0 ? 1U : 3U,
                 .ttl = 30s,
                 .forks = true,
                 .seed = seed + static_cast<std::uint64_t>(round)});
    storm.run(15s, [&] {
      if (storm.below(50) == 0) storm.kill_one();
    });
    row += storm.end(row.scenario);
  }
  row.report();
}

}  // namespace
}  // namespace airlock::testing
