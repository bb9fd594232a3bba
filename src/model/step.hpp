#pragma once

#include "model/draw.hpp"
#include "model/records.hpp"

namespace airlock::model {

// What a step is given instead of reading it: the time, and a draw for lotteries.
struct StepContext {
  Micros now = 0;   // The store's monotone clock.
  Micros wall = 0;  // For fences.
  Draw& draw;
};

// Who asks, beside what the request says.
struct Requester {
  Owner owner = 0;
  const Label* label = nullptr;  // Where the request has none.
};

// Told by a shard, in the middle of a step, what other visitors must know.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  // The visit was handed the slot, called, revoked, or is about to end. Must not call back into the
  // shard.
  virtual void changed(Ref ref, Visit& visit) noexcept = 0;

  // Whether a waiter can be told. A false makes it absent.
  [[nodiscard]] virtual bool reachable(const Visit& visit) noexcept = 0;

  // What an ask that found no room does next, and so how soon it needs to know of a death.
  enum class After { refused, in_line };

  // Whether the holders of a gate without room should be looked at now. `last_look` is when they
  // last were; a true sets it.
  [[nodiscard]] virtual bool wants_suspects(After /*after*/, Micros& /*last_look*/) noexcept {
    return false;
  }
  // A process with a hold at such a gate, to be probed after the step. False: that is enough.
  [[nodiscard]] virtual bool suspect(Owner /*owner*/) noexcept { return false; }
  [[nodiscard]] virtual bool is_dead(Owner /*owner*/) noexcept { return false; }
};

}  // namespace airlock::model
