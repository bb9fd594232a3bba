#include "base/hmac.hpp"

#include <algorithm>
#include <array>

namespace airlock::base {
namespace {

using KeyBlock = std::array<char, Sha256::kBlockSize>;

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

KeyBlock block_of(std::string_view key) {
  KeyBlock block{};
  if (key.size() <= block.size()) {
    std::copy(key.begin(), key.end(), block.begin());
  } else {
    const Digest digest = sha256(key);
    std::copy(digest.begin(), digest.end(), block.begin());
  }
  return block;
}

Sha256 padded(KeyBlock block, std::uint8_t pad) {
  for (char& byte : block) byte = static_cast<char>(static_cast<std::uint8_t>(byte) ^ pad);
  Sha256 hash;
  hash.update({block.data(), block.size()});
  return hash;
}

}  // namespace

HmacKey::HmacKey(std::string_view key) noexcept
    : inner_(padded(block_of(key), 0x36)), outer_(padded(block_of(key), 0x5c)) {}

Digest HmacKey::authenticate(std::initializer_list<std::string_view> pieces) const noexcept {
  Sha256 inner = inner_;
  for (const std::string_view piece : pieces) inner.update(piece);
  Sha256 outer = outer_;
  outer.update(bytes_of(inner.finish()));
  return outer.finish();
}

bool is_same_digest(const Digest& a, const Digest& b) noexcept {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(a[i] ^ b[i]);
    asm volatile("" : "+r"(difference));  // The compiler cannot know it, so it cannot stop early.
  }
  return difference == 0;
}

}  // namespace airlock::base
