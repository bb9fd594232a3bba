#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "airlock/export.hpp"

namespace airlock {

// A length of time in whole microseconds. Anything coarser from <chrono> converts by itself: `ttl =
// 30s`.
using Duration = std::chrono::duration<std::int64_t, std::micro>;

// Never ends. Sums that would pass it stay at it.
inline constexpr Duration kForever = Duration::max();

// a + b for non-negative lengths, held at kForever instead of overflowing.
[[nodiscard]] constexpr Duration saturating_add(Duration a, Duration b) noexcept {
  return a > kForever - b ? kForever : a + b;
}

// Reads `200ms`, `5s`, `2m`, `1h30m`, `1d`, `250us`; a bare number is seconds (`0.5`); `forever` is
// kForever. Anything else, negative or too large is InvalidArgument.
[[nodiscard]] AIRLOCK_EXPORT Duration parse_duration(std::string_view text);

// Text that parse_duration reads back as the same length: `1h30m`, `1.5s`, `forever`.
[[nodiscard]] AIRLOCK_EXPORT std::string to_text(Duration duration);

}  // namespace airlock
