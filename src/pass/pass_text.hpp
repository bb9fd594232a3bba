#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "airlock/duration.hpp"
#include "airlock/token.hpp"
#include "base/digest.hpp"

// The text of passes and capabilities:
//
// airlock2~<p|c>~<kid>~<issued>~<expires>~<store: 16 hex>~<visitor: 32 hex>~<fence>~<gate>~<MAC: 43 base64url>
//
// `issued` and `expires` are microseconds since 1970; they and the fence are decimal. The MAC is of
// the body, all that is before its ~.

namespace airlock::passes {

inline constexpr std::string_view kVersion = "airlock2";

enum class Kind : char { pass = 'p', capability = 'c' };

struct Statement {
  Kind kind = Kind::pass;
  std::string kid;
  Token token;
  Instant issued{0};
  Instant expires{0};
};

// What a text says, before anybody has checked its MAC.
struct Unverified {
  Statement statement;
  std::string_view body;  // Of the text that was read.
  base::Digest mac;
};

[[nodiscard]] bool is_kid(std::string_view kid) noexcept;

[[nodiscard]] std::string write_body(const Statement& statement);
[[nodiscard]] std::string write_text(std::string body, const base::Digest& mac);

// Reads exactly what the two above write.
[[nodiscard]] std::optional<Unverified> read_text(std::string_view text);

}  // namespace airlock::passes
