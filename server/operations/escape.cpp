#include "operations/escape.hpp"

namespace airlock::server {
namespace {

void append_escaped(std::string& out, std::string_view text, std::string_view escapes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr unsigned kBase = 16;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && escapes.find(c) == std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x") += kDigits[byte / kBase];
    out += kDigits[byte % kBase];
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text, "\\");
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  append_escaped(out, text, "\\\"");
  return out += '"';
}

}  // namespace airlock::server
