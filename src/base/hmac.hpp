#pragma once

#include <initializer_list>
#include <string_view>

#include "base/digest.hpp"

namespace airlock::base {

// HMAC-SHA-256 (RFC 2104) with one key, whose blocks are hashed once. Takes the same steps for every
// key and every message of one length.
class HmacKey {
 public:
  explicit HmacKey(std::string_view key) noexcept;

  // Of the pieces, one after the other.
  [[nodiscard]] Digest authenticate(std::initializer_list<std::string_view> pieces) const noexcept;

 private:
  Sha256 inner_;
  Sha256 outer_;
};

// Takes the same steps wherever the two differ, so that nobody learns from its time how much of a
// guess is right.
[[nodiscard]] bool is_same_digest(const Digest& a, const Digest& b) noexcept;

}  // namespace airlock::base
