#pragma once

#include <cstdint>
#include <string_view>

namespace airlock::base {

// CRC-32C (Castagnoli). Notices every change within 32 neighbouring bits; proves nothing against an
// adversary.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes) noexcept;

}  // namespace airlock::base
