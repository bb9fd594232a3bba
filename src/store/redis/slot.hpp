#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace airlock::redis {

// A part of a cluster's keys; one server has all keys of a hash slot.
using HashSlot = std::uint16_t;
inline constexpr std::size_t kHashSlots = 16'384;

// Where the keys are whose braces hold `tag`.
[[nodiscard]] HashSlot slot_of(std::string_view tag) noexcept;

}  // namespace airlock::redis
