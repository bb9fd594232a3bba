#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.hpp"
#include "store/backend.hpp"

namespace airlock::memory {

struct Options {
  std::uint32_t shards = 16;  // Gates of different shards are decided side by side.
};

// A store in this process: the model under one mutex per shard. In a forked child it is empty and
// usable; what the parent held is the parent's.
[[nodiscard]] AIRLOCK_EXPORT Store make_store(const Options& options, Clock& clock);

}  // namespace airlock::memory
