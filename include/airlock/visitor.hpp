#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "airlock/export.hpp"

namespace airlock {

// Who asks. A retry with the same visitor finds the first answer; two visitors never share one.
struct VisitorId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  // From the kernel's random source, in blocks; a forked child never repeats its parent's.
  [[nodiscard]] static AIRLOCK_EXPORT VisitorId random();

  // The same id for the same bytes, everywhere.
  [[nodiscard]] static AIRLOCK_EXPORT VisitorId named(std::string_view bytes);

  // 32 lower-case hex digits and back; anything else is InvalidArgument.
  [[nodiscard]] AIRLOCK_EXPORT std::string text() const;
  [[nodiscard]] static AIRLOCK_EXPORT VisitorId parse(std::string_view text);

  friend auto operator<=>(const VisitorId&, const VisitorId&) noexcept = default;
};

// What people see of a visitor: at most this many bytes. The default is `host:pid comm`.
inline constexpr std::size_t kMaxLabelSize = 64;

}  // namespace airlock
