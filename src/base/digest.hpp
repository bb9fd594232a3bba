#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace airlock::base {

using Digest = std::array<std::uint8_t, 32>;

// SHA-256 (FIPS 180-4).
[[nodiscard]] Digest sha256(std::string_view bytes) noexcept;

// The same of bytes that come in pieces. A copy continues on its own.
class Sha256 {
 public:
  static constexpr std::size_t kBlockSize = 64;

  void update(std::string_view bytes) noexcept;

  // Of everything so far; more may follow.
  [[nodiscard]] Digest finish() const noexcept;

 private:
  using Block = std::array<std::uint8_t, kBlockSize>;
  using State = std::array<std::uint32_t, 8>;

  static void absorb(State& state, const Block& block) noexcept;

  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  Block block_ = {};         // Its first total_ % kBlockSize bytes are not absorbed yet.
  std::uint64_t total_ = 0;  // Bytes so far.
};

}  // namespace airlock::base
