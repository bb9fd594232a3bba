#include <gtest/gtest.h>

#include "model/support/trial_seed.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/storm.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;

// Most stops are short; some are longer than a claim window, some longer than a ttl.
Duration any_stop(Storm& storm) {
  const std::uint64_t kind = storm.below(200);
  return Duration(storm.below(kind == 0 ? 1'500'000 : kind < 4 ? 400'000 : 5'000));
}

TEST(StopStorm, WhoIsStoppedHindersTheOthersNoLongerThanPromised) {
  const std::uint64_t seed = trial::trial_seed();
  ChaosRow row{.scenario = "SIGSTOP storm (shm)"};
  const int rounds = takes_its_time() ? 60 : 2;
  for (int round = 0; round < rounds; ++round) {
    TempDir dir;
    Storm storm({.open =
                     [&] {
                       return shm::make_store({.dir = dir.path(), .timeout = 500ms},
                                              Clock::system());
                     },
                 .limit = round % 2 == 0 ? 1U : 3U,
                 .seed = seed + static_cast<std::uint64_t>(round)});
    storm.run(15s, [&] { storm.stop_one(any_stop(storm)); });
    row += storm.end(row.scenario);
  }
  row.report();
}

}  // namespace
}  // namespace airlock::testing
