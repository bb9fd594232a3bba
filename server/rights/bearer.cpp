#include "rights/bearer.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <stdexcept>

namespace airlock::server {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr std::string_view kScheme = "bearer ";

std::string hex(const TokenHash& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xfU];
  }
  return text;
}

}  // namespace

TokenHash hash_of(std::string_view token) {
  TokenHash hash{};
  if (EVP_Digest(token.data(), token.size(), hash.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL has no SHA-256");
  return hash;
}

bool is_same(const TokenHash& a, const TokenHash& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<TokenHash> parse_token_hash(std::string_view text) {
  TokenHash hash{};
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  if (text.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* const digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, hash[i], 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
  }
  return hash;
}

std::string token_hash_text(const TokenHash& hash) { return std::string(kPrefix) + hex(hash); }

std::string new_token() {
  TokenHash bits{};
  if (RAND_bytes(bits.data(), static_cast<int>(bits.size())) != 1)
    throw std::runtime_error("OpenSSL has no random bytes");
  return "airlock_" + hex(bits);
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  const auto is_same_letter = [](char expected, char c) {
    return expected == std::tolower(static_cast<unsigned char>(c));
  };
  if (authorization.size() <= kScheme.size() ||
      !std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), is_same_letter))
    return std::nullopt;
  authorization.remove_prefix(kScheme.size());
  return authorization.substr(std::min(authorization.find_first_not_of(' '), authorization.size()));
}

}  // namespace airlock::server
