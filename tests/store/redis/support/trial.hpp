#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "model/support/operation.hpp"
#include "model/support/trial_seed.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/support/twins.hpp"

namespace airlock::trial {

// Stops at the first difference and tells how it came about.
inline void try_redis_at_random(std::uint64_t operations, bool plain = false,
                                std::size_t look_every = 1) {
  constexpr std::uint64_t kEpisode = 500;
  const std::uint64_t seed = trial_seed();
  for (std::uint64_t done = 0, number = seed; done < operations; done += kEpisode, ++number) {
    const std::uint64_t mixed = number * 0x9E3779B97F4A7C15U >> 32;
    Profile profile{.gates = 1 + mixed % 4, .visitors = 4 + mixed % 9};
    profile.plain = plain;
    profile.long_waits = false;
    profile.owners_end = false;
    testing::RedisServer::shared().command({"FLUSHALL"});
    Generator generator(number, profile);
    RedisTwins twins(number, profile, look_every);
    std::deque<std::string> last;
    for (std::uint64_t i = 0; i < kEpisode; ++i) {
      const Operation operation = generator.next();
      last.push_back(std::to_string(i) + ": " + operation.text());
      if (last.size() > 30) last.pop_front();
      const std::string difference = twins.apply(operation);
      if (difference.empty()) continue;
      std::string story;
      for (const std::string& line : last) story += line + "\n";
      FAIL() << "AIRLOCK_SEED=" << number << " step " << i << "\n" << difference << story;
    }
  }
}

}  // namespace airlock::trial
