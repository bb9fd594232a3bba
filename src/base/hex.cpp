#include "base/hex.hpp"

namespace airlock::base {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

void append_hex(std::string& out, std::uint64_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kDigits[(value >> shift) & 15];
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) append_hex(out, byte, 2);
  return out;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) noexcept {
  if (text.empty() || text.size() > 16) return std::nullopt;
  std::uint64_t value = 0;
  for (const char digit : text) {
    const std::size_t at = kDigits.find(digit);
    if (at == std::string_view::npos) return std::nullopt;
    value = value << 4 | at;
  }
  return value;
}

}  // namespace airlock::base
