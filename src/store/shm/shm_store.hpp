#pragma once

#include <memory>

#include "base/clock.hpp"
#include "store/backend.hpp"
#include "store/shm/options.hpp"
#include "store/shm/segment.hpp"

namespace airlock::shm {

// A store in a segment of shared memory: the model, under a lock per shard that survives the death
// of its owner. Attaches on first use; a forked child attaches anew.
[[nodiscard]] Store make_store(const Options& options, Clock& clock);

// The same on another host, for tests.
[[nodiscard]] Store make_store(const Options& options, Clock& clock, const HostIdentity& host);

}  // namespace airlock::shm
