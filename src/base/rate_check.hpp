#pragma once

#include <cstdint>

#include "airlock/rate.hpp"

namespace airlock::base {

inline constexpr std::uint32_t kMaxCount = std::uint32_t{1} << 31;

// InvalidArgument unless the tier keeps every rule of rate.hpp. Does not allocate where it does.
void check_rate(const Rate& rate);

// The same for a cost asked of a tier that has been checked.
void check_cost(const Rate& rate, std::uint32_t cost);

}  // namespace airlock::base
