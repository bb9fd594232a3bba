#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace airlock::trial {

// The seed of this run: AIRLOCK_SEED, else any.
inline std::uint64_t trial_seed() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  const char* given = std::getenv("AIRLOCK_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
  std::cout << "AIRLOCK_SEED=" << seed << std::endl;
  return seed;
}

}  // namespace airlock::trial
