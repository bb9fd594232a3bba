#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "airlock/store.hpp"

namespace airlock {

// A process is led through an operation one instruction at a time. Where it would be dead if it were
// killed there, the segment is copied as it is; in the copy nobody has its byte lock, so it is dead.
// Somebody else then uses the copy.
struct CrashWalk {
  const char* name;
  // By the process that goes on living. What it holds is bound to it.
  std::function<void(const Store& survivor)> before = [](const Store&) {};
  // By another that dies before, in the middle of a step.
  bool after_a_death = false;
  // By the process that will die, not led.
  std::function<void(const Store& dying)> prepare = [](const Store&) {};
  // The operation, led. Gets a store that is attached, unless `attaches`.
  std::function<void(const Store& dying)> step;
  bool attaches = false;
  // A long way, most of it far from the segment: led along its system calls and what follows each.
  bool by_calls = false;
  // What must hold in a copy; empty: it does, else what does not.
  std::function<std::string(const Store& heir)> check;

  struct Result {
    std::uint64_t instructions = 0;
    std::uint64_t crashes = 0;
    std::uint64_t kills = 0;  // Those that were killed for real.
    std::string wrong;
  };
  // Crashes at so many of the places where it is led, or at all of them if there are no more.
  [[nodiscard]] Result run(std::uint64_t crashes, std::uint64_t seed) const;
};

}  // namespace airlock
