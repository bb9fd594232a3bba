#pragma once

#include "store/redis/deadline.hpp"
#include "store/redis/options.hpp"

namespace airlock::redis {

// The clock that a store's answers go by: CLOCK_BOOTTIME, or that of a test.
[[nodiscard]] Clock& clock_of(const Options& options) noexcept;

// When a step that begins now must be over: after the timeout, or at the caller's own limit
// (CallLimit) if that is sooner.
[[nodiscard]] Deadline step_deadline(const Options& options);

}  // namespace airlock::redis
