#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "airlock/version.hpp"

namespace airlock {

// A length of time in whole microseconds. Anything coarser from <chrono> converts by itself: `ttl =
// 30s`.
using Duration = std::chrono::duration<std::int64_t, std::micro>;

// A moment: microseconds since the start of the clock that said it.
using Instant = Duration;

// Never ends. Sums that would pass it stay at it.
inline constexpr Duration kForever = Duration::max();

// a + b, held at kForever and at Duration::min() instead of overflowing. kForever with anything
// added stays kForever.
[[nodiscard]] constexpr Duration saturating_add(Duration a, Duration b) noexcept {
  if (a == kForever || b == kForever) return kForever;
  if (b > Duration(0)) return a > kForever - b ? kForever : a + b;
  return a < Duration::min() - b ? Duration::min() : a + b;
}

// a - b in the same way: less of kForever is kForever.
[[nodiscard]] constexpr Duration saturating_sub(Duration a, Duration b) noexcept {
  if (a == kForever) return kForever;
  if (b > Duration(0)) return a < Duration::min() + b ? Duration::min() : a - b;
  return a > kForever + b ? kForever : a - b;
}

// Any length of <chrono> in whole microseconds, rounded up; what is too long is kForever, what is
// too far below 0 is Duration::min(), and what is not a number is 0.
template <typename Rep, typename Period>
[[nodiscard]] constexpr Duration saturating_ceil(
    const std::chrono::duration<Rep, Period>& length) noexcept {
  using Exact = std::chrono::duration<long double, std::micro>;
  const long double micros = std::chrono::duration_cast<Exact>(length).count();
  if (micros >= static_cast<long double>(kForever.count())) return kForever;
  if (micros <= static_cast<long double>(Duration::min().count())) return Duration::min();
  if (micros != micros) return Duration(0);
  const auto whole = static_cast<std::int64_t>(micros);
  return Duration(static_cast<long double>(whole) < micros ? whole + 1 : whole);
}

// What options and calls take: any length of <chrono>, also a fraction (`ttl = 0.5s`), as
// saturating_ceil() converts it.
struct AnyDuration : Duration {
  // NOLINTBEGIN(google-explicit-constructor): a duration is what it is
  constexpr AnyDuration(Duration length) noexcept : Duration(length) {}
  template <typename Rep, typename Period>
  constexpr AnyDuration(const std::chrono::duration<Rep, Period>& length) noexcept
      : Duration(saturating_ceil(length)) {}
  // NOLINTEND(google-explicit-constructor)
};

// Reads `200ms`, `5s`, `2m`, `1h30m`, `1d`, `250us`; a bare number is seconds (`0.5`); `forever` is
// kForever. Anything else, negative or too large is InvalidArgument.
[[nodiscard]] AIRLOCK_EXPORT Duration parse_duration(std::string_view text);

// Text that parse_duration reads back as the same length: `1h30m`, `1.5s`, `forever`.
[[nodiscard]] AIRLOCK_EXPORT std::string to_text(Duration duration);

}  // namespace airlock
