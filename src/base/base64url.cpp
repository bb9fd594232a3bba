#include "base/base64url.hpp"

#include <array>
#include <cstdint>

namespace airlock::base {
namespace {

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNoDigit = 0x80;

constexpr std::array<std::uint8_t, 256> make_base64_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kBase64Digits.size(); ++i) {
    values[static_cast<unsigned char>(kBase64Digits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr std::array<std::uint8_t, 256> kBase64Values = make_base64_values();

}  // namespace

std::string base64url(std::string_view bytes) {
  std::string out;
  out.reserve((4 * bytes.size() + 2) / 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6;) out += kBase64Digits[bits >> (count -= 6) & 63];
  }
  if (count > 0) out += kBase64Digits[bits << (6 - count) & 63];
  return out;
}

std::optional<std::string> parse_base64url(std::string_view text) {
  std::string out;
  out.reserve(3 * text.size() / 4);
  std::uint32_t bits = 0;
  unsigned illegal = 0;
  int count = 0;
  for (const char digit : text) {
    const std::uint8_t value = kBase64Values[static_cast<unsigned char>(digit)];
    illegal |= value & kNoDigit;
    bits = bits << 6 | (value & 63U);
    count += 6;
    if (count >= 8) out += static_cast<char>(bits >> (count -= 8) & 255);
  }
  const bool has_spare_bits = count >= 6 || (bits & ((1U << count) - 1)) != 0;
  if (illegal != 0 || has_spare_bits) return std::nullopt;
  return out;
}

}  // namespace airlock::base
