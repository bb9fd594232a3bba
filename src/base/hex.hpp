#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace airlock::base {

// Appends the low `digits` hex digits of a number, lower-case, zeros included.
void append_hex(std::string& out, std::uint64_t value, int digits);

// Each byte as two digits.
[[nodiscard]] std::string hex(std::span<const std::uint8_t> bytes);

// Reads 1 to 16 lower-case hex digits and nothing else.
[[nodiscard]] std::optional<std::uint64_t> parse_hex(std::string_view text) noexcept;

}  // namespace airlock::base
