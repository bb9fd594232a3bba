#include <span>

#include "airlock/error.hpp"
#include "airlock/token.hpp"
#include "base/digest.hpp"
#include "base/hex.hpp"
#include "base/random.hpp"

namespace airlock {
namespace {

std::uint64_t big_endian(std::span<const std::uint8_t, 8> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

VisitorId VisitorId::random() {
  const auto [high, low] = base::random128();
  return {.high = high, .low = low};
}

VisitorId VisitorId::named(std::string_view bytes) {
  const base::Digest digest = base::sha256(bytes);
  const std::span words(digest);
  return {.high = big_endian(words.subspan<0, 8>()), .low = big_endian(words.subspan<8, 8>())};
}

std::string VisitorId::text() const {
  std::string out;
  out.reserve(32);
  base::append_hex(out, high, 16);
  base::append_hex(out, low, 16);
  return out;
}

VisitorId VisitorId::parse(std::string_view text) {
  if (text.size() == 32) {
    const auto high = base::parse_hex(text.substr(0, 16));
    const auto low = base::parse_hex(text.substr(16));
    if (high && low) return {.high = *high, .low = *low};
  }
  throw InvalidArgument("visitor: 32 lower-case hex digits are needed");
}

}  // namespace airlock
