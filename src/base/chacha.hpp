#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace airlock::base {

using ChachaKey = std::array<std::uint32_t, 8>;

inline constexpr std::size_t kChachaBlock = 64;

// Blocks 0 to 3 of the ChaCha20 stream of RFC 8439 with this key and an all-zero nonce. Four at
// once, because one alone is a single long chain of dependent steps.
void chacha20(const ChachaKey& key, std::span<std::byte, 4 * kChachaBlock> out) noexcept;

}  // namespace airlock::base
