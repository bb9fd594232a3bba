#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "lincheck/support/trial.hpp"
#include "lincheck/support/yielding_clock.hpp"
#include "store/memory/memory_store.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"

// Trials of the stores of one machine.

namespace airlock::lincheck {

inline void check_threads(std::chrono::milliseconds at_most, std::uint64_t seed) {
  YieldingClock clock;
  const Store store = memory::make_store({}, clock);
  expect_linearizable({.name = "memory",
                       .open = [&](std::uint8_t) { return Access{store}; },
                       .at_most = at_most,
                       .seed = seed});
}

inline void check_killed_processes(std::chrono::milliseconds at_most, std::uint64_t seed) {
  YieldingClock clock;
  const TempDir dir;
  const shm::Options options{.dir = dir.path(), .timeout = std::chrono::seconds(10)};
  expect_linearizable(
      {.name = "shm, processes killed",
       .clients = Trial::Clients::processes,
       .open = [&](std::uint8_t) { return Access{shm::make_store(options, clock)}; },
       .kills = true,
       .deaths_are_seen = true,
       .at_most = at_most,
       .seed = seed});
}

}  // namespace airlock::lincheck
