#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "airlock/export.hpp"
#include "airlock/name.hpp"
#include "airlock/visitor.hpp"

namespace airlock {

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
