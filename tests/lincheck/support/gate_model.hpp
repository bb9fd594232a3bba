#pragma once

#include <cstdint>
#include <vector>

#include "lincheck/support/check.hpp"

namespace airlock::lincheck {

// What a gate with permits promises. With a limit of 1 it is a lock; where nobody joins, a semaphore.
//
//   - Nobody is let in beyond the limit, by weight; nobody is refused who fits, unless others wait.
//   - Fences grow with every admission. Visitors of weight 1 have a slot below the limit of their own.
//   - Asking again gives the same admission. Only the token that is in can be given back or renewed.
//   - Who joined first is handed first; one that does not fit keeps everybody behind it waiting.
//     What is given back goes to the line in the same step, and is in use from then on.
//   - What was bound to a client ends some time after its death.
//
// Time has no part in it: leases, patience and hand-overs are to last longer than the history.
struct GateModel {
  std::uint32_t limit = 1;

  struct Inside {
    std::uint8_t visitor;
    bool claimed;
    std::uint32_t weight;
    std::uint64_t fence;  // 0: nobody was told yet, but it is above
    std::uint64_t floor;  // that.
    std::uint32_t slot;   // kNoSlot: none, or not told yet.
    friend auto operator<=>(const Inside&, const Inside&) = default;
  };
  struct Waiting {
    std::uint8_t visitor;
    std::uint32_t weight;
    friend auto operator<=>(const Waiting&, const Waiting&) = default;
  };
  struct State {
    std::vector<Inside> inside = {};  // In the order of admission, so their fences grow.
    std::vector<Waiting> line = {};
    std::uint64_t last_fence = 0;  // The highest that anybody was told.
    friend auto operator<=>(const State&, const State&) = default;
  };

  [[nodiscard]] static State start() { return {}; }
  [[nodiscard]] std::vector<State> after(State state, const Operation& operation,
                                         const Span& span) const;
};

}  // namespace airlock::lincheck
