#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace airlock::base {

using Digest = std::array<std::uint8_t, 32>;

// SHA-256 (FIPS 180-4).
[[nodiscard]] Digest sha256(std::string_view bytes) noexcept;

}  // namespace airlock::base
