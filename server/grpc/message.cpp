#include "grpc/message.hpp"

#include <algorithm>
#include <charconv>

namespace airlock::server::grpc {
namespace {

constexpr std::size_t kMaxTimeoutDigits = 8;
constexpr unsigned kByteBits = 8;

std::uint32_t size_in(std::string_view prefix) noexcept {
  std::uint32_t size = 0;
  for (const char c : prefix.substr(1, kPrefix - 1))
    size = size << kByteBits | static_cast<unsigned char>(c);
  return size;
}

std::optional<std::chrono::nanoseconds> unit_of(char c) noexcept {
  using std::chrono::hours;
  switch (c) {
    case 'H':
      return hours(1);
    case 'M':
      return std::chrono::minutes(1);
    case 'S':
      return std::chrono::seconds(1);
    case 'm':
      return std::chrono::milliseconds(1);
    case 'u':
      return std::chrono::microseconds(1);
    case 'n':
      return std::chrono::nanoseconds(1);
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_compressed(std::string_view body) noexcept { return !body.empty() && body.front() != 0; }

std::optional<std::string_view> only_message(std::string_view body) noexcept {
  if (body.size() < kPrefix || is_compressed(body)) return std::nullopt;
  const std::string_view message = body.substr(kPrefix);
  if (message.size() != size_in(body)) return std::nullopt;
  return message;
}

void append_message(std::string& out, std::string_view message) {
  out += '\0';
  for (unsigned shift = 4 * kByteBits; shift != 0;) {
    shift -= kByteBits;
    out += static_cast<char>(message.size() >> shift);
  }
  out.append(message);
}

std::optional<std::chrono::microseconds> parse_timeout(std::string_view text) noexcept {
  if (text.size() < 2 || text.size() > kMaxTimeoutDigits + 1) return std::nullopt;
  const auto unit = unit_of(text.back());
  text.remove_suffix(1);
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (!unit || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Hours overflow nanoseconds.
  const std::chrono::duration<double, std::micro> length = *unit * static_cast<double>(count);
  return std::chrono::ceil<std::chrono::microseconds>(length);
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append(1, '%').append(1, kDigits[byte / 16]).append(1, kDigits[byte % 16]);
  }
  return out;
}

}  // namespace airlock::server::grpc
