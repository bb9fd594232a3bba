#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "airlock/name.hpp"
#include "airlock/version.hpp"

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

  template <typename Char, typename Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      const VisitorId& visitor) {
    return out << visitor.text();
  }
  friend auto operator<=>(const VisitorId&, const VisitorId&) noexcept = default;
};

// What people see of a visitor: at most this many bytes. The default is `host:pid comm`.
inline constexpr std::size_t kMaxLabelSize = 64;

// Grows with every admission of a gate, whatever was lost in between. A resource that remembers the
// highest fence it saw can refuse a holder that lost its lease. 0: not fenced (a rate-only
// admission, or one that a policy let in).
using Fence = std::uint64_t;

// Which store a token belongs to.
using StoreId = std::uint64_t;

// Proof of admission. Whoever has it can release or renew; it is worth what the admission is worth,
// so keep it out of logs.
//
//   std::string text = token.text();          // airlock1~... : cookie-, header- and shell-safe
//   Token same = Token::parse(text);          // in another process, on another host
struct Token {
  StoreId store = 0;
  GateName gate;
  VisitorId visitor;
  Fence fence = 0;

  // Where the store finds it at once; 0: it has to look. Says nothing that the rest does not, so it
  // is neither compared nor written.
  std::uint64_t place = 0;

  [[nodiscard]] AIRLOCK_EXPORT std::string text() const;

  // InvalidArgument for anything that text() did not write: truncated, altered, another version.
  [[nodiscard]] static AIRLOCK_EXPORT Token parse(std::string_view text);

  friend bool operator==(const Token& a, const Token& b) noexcept {
    return a.store == b.store && a.gate == b.gate && a.visitor == b.visitor && a.fence == b.fence;
  }
};

}  // namespace airlock

template <>
struct std::hash<airlock::VisitorId> {
  std::size_t operator()(const airlock::VisitorId& visitor) const noexcept {
    return static_cast<std::size_t>(visitor.high ^ (visitor.low * 0x9e3779b97f4a7c15U));
  }
};
