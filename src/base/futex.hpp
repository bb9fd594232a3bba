#pragma once

#include <atomic>
#include <cstdint>

#include "airlock/duration.hpp"

namespace airlock::base {

// Sleeps while the word, which may be in memory that processes share, is `expected`; until woken, or
// for so long. May wake early.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                Duration at_most) noexcept;

void futex_wake(const std::atomic<std::uint32_t>& word, int sleepers) noexcept;

}  // namespace airlock::base
