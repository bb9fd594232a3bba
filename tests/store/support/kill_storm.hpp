#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace airlock {

// Many workers use one segment at random; one after the other is killed and another takes its place.
//
// Every worker logs what it is about to do and what came of it in a ring of its own, and says in a word
// of its own for each gate what it surely holds: set after a grant, cleared before it is given back.
// After every grant a worker reads all those words, twice, until they stand still for a moment; those
// whose worker lives are then held together and must fit the limit. That is all that is believed: the
// store is not asked.
struct KillStorm {
  std::uint32_t workers = 64;
  std::uint64_t kills = 100'000;
  std::chrono::seconds at_most = std::chrono::seconds(120);
  std::uint64_t seed = 1;

  struct Result {
    std::uint64_t kills = 0;
    std::uint64_t steps = 0;
    std::uint64_t grants = 0;
    std::uint64_t checks = 0;  // Grants after which the words stood still.
    std::chrono::milliseconds longest_step{0};
    std::chrono::milliseconds took{0};
    std::uint64_t over_admissions = 0;  // Also what was held and is gone.
    std::uint64_t leaks = 0;
    std::uint64_t hangs = 0;
    std::string wrong;  // What was found first. Empty: nothing.

    [[nodiscard]] std::string text() const;  // All but that.
  };
  [[nodiscard]] Result run() const;
};

}  // namespace airlock
