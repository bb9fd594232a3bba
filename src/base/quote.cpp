#include "base/quote.hpp"

#include <algorithm>

namespace airlock::base {
namespace {

constexpr std::size_t kShown = 40;

void append_escaped(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

void append_byte(std::string& out, char byte) {
  const bool plain = byte >= ' ' && byte <= '~';
  if (!plain) return append_escaped(out, static_cast<unsigned char>(byte));
  if (byte == '"' || byte == '\\') out += '\\';
  out += byte;
}

}  // namespace

std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char byte : value.substr(0, kShown)) append_byte(out, byte);
  out += value.size() > kShown ? "...\"" : "\"";
  return out;
}

bool is_printable(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return value < 0x20 || value == 0x7f;
  });
}

}  // namespace airlock::base
