#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "model/support/trial_seed.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/storm.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;

// Quarters of a minute, each in a store of its own, with a limit of one and of three in turn.
void run_storms(const std::string& scenario, StormPlan plan,
                const std::function<void(Storm&)>& trouble) {
  ChaosRow row{.scenario = scenario};
  plan.seed = trial::trial_seed();
  const int rounds = takes_its_time() ? 60 : 2;
  for (int round = 0; round < rounds; ++round, ++plan.seed) {
    TempDir dir;
    plan.open = [&] {
      return shm::make_store({.dir = dir.path(), .timeout = 500ms}, Clock::system());
    };
    plan.limit = round % 2 == 0 ? 1 : 3;
    Storm storm(plan);
    storm.run(15s, [&] { trouble(storm); });
    row += storm.end(scenario);
  }
  row.report();
}

// Most stops are short; some are longer than a claim window, some longer than a ttl.
TEST(StopStorm, WhoIsStoppedHindersTheOthersNoLongerThanPromised) {
  run_storms("SIGSTOP storm (shm)", {}, [](Storm& storm) {
    const std::uint64_t kind = storm.below(200);
    storm.stop_one(Duration(storm.below(kind == 0 ? 1'500'000 : kind < 4 ? 400'000 : 5'000)));
  });
}

// They fork while they hold, wait and are in the middle of a step, and are killed while their
// children live. The ttl is long: nothing that a dead process had may last so long.
TEST(ForkStorm, ChildrenOwnNothingOfTheirParents) {
  run_storms("fork storm (shm)", {.ttl = 30s, .forks = true}, [](Storm& storm) {
    if (storm.below(50) == 0) storm.kill_one();
  });
}

}  // namespace
}  // namespace airlock::testing
