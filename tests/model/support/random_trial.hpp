#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>

#include "model/support/operation.hpp"
#include "model/support/trial_seed.hpp"
#include "model/support/twins.hpp"

namespace airlock::trial {

struct RandomTrial {
  std::uint64_t operations = 100'000;
  std::uint64_t episode = 1'000;  // Then everything begins anew, with other habits.
  Twins::Pace pace = Twins::Pace::lazy;
  bool crowd = false;  // Many visitors, so that pools and lines grow and shrink.
};

inline Profile profile_of(const RandomTrial& trial, std::uint64_t seed) {
  Profile profile{.gates = 1 + seed % 4, .visitors = 4 + seed % 9};
  profile.long_waits = trial.pace == Twins::Pace::eager;
  profile.owners_end = trial.pace == Twins::Pace::lazy;  // It serves all lines, in whatever order.
  if (trial.crowd) {
    profile = {.gates = 2, .visitors = 300, .highest_limit = 150, .crowd = 100, .groups = false};
  }
  return profile;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kSlowness = 5;  // A sanitizer makes everything slow.
#else
inline constexpr std::uint64_t kSlowness = 1;
#endif

// Stops at the first difference and tells how it came about.
inline void try_at_random(const RandomTrial& trial) {
  const std::uint64_t seed = trial_seed();
  for (std::uint64_t done = 0, number = seed; done < trial.operations / kSlowness;
       done += trial.episode, ++number) {
    const Profile profile = profile_of(trial, number * 0x9E3779B97F4A7C15U >> 32);
    Generator generator(number, profile);
    Twins twins(static_cast<std::uint32_t>(number), profile, trial.pace);
    std::deque<std::string> last;
    for (std::uint64_t i = 0; i < trial.episode; ++i) {
      const Operation operation = generator.next();
      last.push_back(std::to_string(i) + ": " + operation.text());
      if (last.size() > 20) last.pop_front();
      const std::string difference = twins.apply(operation);
      if (difference.empty()) continue;
      std::string story;
      for (const std::string& line : last) story += line + "\n";
      FAIL() << "AIRLOCK_SEED=" << number << " step " << i << "\n" << difference << story;
    }
  }
}

}  // namespace airlock::trial
