#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Bearer tokens. The configuration has their SHA-256 alone, so reading it lets nobody in.

namespace airlock::server {

using TokenHash = std::array<std::uint8_t, 32>;

[[nodiscard]] TokenHash hash_of(std::string_view token);

// In constant time.
[[nodiscard]] bool is_same(const TokenHash& a, const TokenHash& b) noexcept;

// "sha256:" and 64 hexadecimal digits, as airlock.toml has them. Nothing for any other text.
[[nodiscard]] std::optional<TokenHash> parse_token_hash(std::string_view text);
[[nodiscard]] std::string token_hash_text(const TokenHash& hash);

// 256 random bits, as "airlock_" and 64 hexadecimal digits.
[[nodiscard]] std::string new_token();

// The token of "Bearer TOKEN". Nothing for any other text.
[[nodiscard]] std::optional<std::string_view> bearer_token(std::string_view authorization);

}  // namespace airlock::server
