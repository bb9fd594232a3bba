#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "lincheck/support/client.hpp"
#include "lincheck/support/plan.hpp"

namespace airlock::lincheck {

// Many short histories of one store: a few clients at one gate, all at once, and then the question
// whether what they were told can be true.
struct Trial {
  enum class Clients { threads, processes };

  std::string name;
  Clients clients = Clients::threads;
  // Called by each client for itself, where it runs; and for number kMaxClients where the trial runs.
  std::function<Access(std::uint8_t number)> open;

  bool kills = false;            // Processes: in every second history one or two.
  bool deaths_are_seen = false;  // What is bound to the dead comes back.
  bool gates_are_new = false;    // Each history has its own; else the last one's is purged.
  Duration step{5};              // About how long a step takes.
  Hold line_hold = Hold::bound;  // Of who waits.
  bool wall_clock = false;       // Rates are by the time of day, of this machine.

  std::chrono::milliseconds at_most = std::chrono::seconds(4);
  std::uint64_t seed = 1;

  struct Result {
    std::uint64_t histories = 0;
    std::uint64_t operations = 0;
    std::uint64_t overlapping = 0;  // Those that began while another ran.
    std::uint64_t unanswered = 0;
    std::uint64_t kills = 0;
    std::uint64_t gave_up = 0;
    std::chrono::nanoseconds checking{0};
    std::chrono::nanoseconds took{0};
    std::string wrong;  // The first wrong history, or what else went wrong. Empty: nothing.

    [[nodiscard]] std::string text() const;  // All but that.
  };
  [[nodiscard]] Result run() const;
};

// Runs it and fails where something is wrong, or more than one history in a thousand was too much to
// check. `faults`, asked afterwards: how many there were besides kills.
void expect_linearizable(
    const Trial& trial, const std::function<std::uint64_t()>& faults = [] { return 0; });

}  // namespace airlock::lincheck
