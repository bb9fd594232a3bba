#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace airlock::redis {

// A part of a cluster's keys; one server has all keys of a slot.
using Slot = std::uint16_t;
inline constexpr std::size_t kSlots = 16'384;

// Where the keys are whose braces hold `tag`.
[[nodiscard]] Slot slot_of(std::string_view tag) noexcept;

}  // namespace airlock::redis
