#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace airlock::base {

// Hashes for tables, not for proofs: fast, and every input bit reaches every output bit. A secret
// seed makes it hard to pick keys that collide. The same in every process of one build; differs
// between byte orders.

namespace hash_detail {

// Odd, about half of the bits set.
inline constexpr std::uint64_t kFirst = 0xd3c5a9e1b78d96cb;
inline constexpr std::uint64_t kSecond = 0x9e8bd1e5c3a7f2b9;

// Both halves of the product: the high one carries low bits up, the low one high bits down.
inline std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
  const __uint128_t product = static_cast<__uint128_t>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t load8(const char* from) noexcept {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline std::uint64_t load4(const char* from) noexcept {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

struct Pair {
  std::uint64_t a;
  std::uint64_t b;
};

// At most 16 bytes as two words that hold every byte; those of other contents differ (sizes are
// told apart later).
inline Pair load_short(const char* from, std::size_t size) noexcept {
  if (size >= 8) return {load8(from), load8(from + size - 8)};
  if (size >= 4) return {load4(from), load4(from + size - 4)};
  if (size == 0) return {0, 0};
  const auto byte = [from](std::size_t at) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(from[at]));
  };
  return {byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1), 0};
}

}  // namespace hash_detail

// A hash of two words, such as a visitor.
[[nodiscard]] inline std::uint64_t hash(std::uint64_t a, std::uint64_t b,
                                        std::uint64_t seed) noexcept {
  namespace detail = hash_detail;
  const std::uint64_t start = detail::multiply(seed ^ detail::kSecond, detail::kFirst);
  const std::uint64_t state = detail::multiply(a ^ seed ^ detail::kFirst, b ^ start);
  return detail::multiply(state ^ detail::kSecond, detail::kFirst);
}

[[nodiscard]] inline std::uint64_t hash(std::string_view bytes, std::uint64_t seed) noexcept {
  namespace detail = hash_detail;
  const char* from = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t state = detail::multiply(seed ^ detail::kSecond, detail::kFirst ^ left);
  for (; left > 16; from += 16, left -= 16) {
    state = detail::multiply(detail::load8(from) ^ seed ^ detail::kFirst,
                             detail::load8(from + 8) ^ state);
  }
  const auto [a, b] = detail::load_short(from, left);
  state = detail::multiply(a ^ seed ^ detail::kFirst, b ^ state);
  return detail::multiply(state ^ detail::kSecond, detail::kFirst);
}

}  // namespace airlock::base
