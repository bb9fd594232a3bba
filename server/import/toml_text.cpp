#include "import/toml_text.hpp"

namespace airlock::server::import {

std::string toml_text(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr unsigned char kDelete = 0x7f;
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == kDelete) {
      out.append("\\u00").append(1, kDigits[byte / 16]).append(1, kDigits[byte % 16]);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace airlock::server::import
