#pragma once

#include <string>
#include <utility>

#include "store/redis/slot.hpp"
#include "store/redis/watchers.hpp"

namespace airlock::redis {

// A channel of this process and those in it who are to be told what is said there. The gates of a
// cluster's slot have one of their own, because only the server of that slot says it; all others
// share one.
struct Ear {
  Ear(std::string name, Slot of, bool is_sharded)
      : channel(std::move(name)), slot(of), sharded(is_sharded) {}

  const std::string channel;
  const Slot slot;
  const bool sharded;  // SSUBSCRIBE rather than SUBSCRIBE.
  Watchers watchers;
};

}  // namespace airlock::redis
