#pragma once

#include <algorithm>
#include <cstdint>

#include "airlock/rate.hpp"
#include "airlock/request.hpp"

namespace airlock::base {

inline constexpr std::uint32_t kMaxCount = std::uint32_t{1} << 31;

// Whether the tier, and a cost asked of it, keep every rule of rate.hpp.
[[nodiscard]] inline bool keeps_rules(const Rate& rate, std::uint32_t cost = 0) noexcept {
  constexpr std::int64_t kMaxProduct = std::int64_t{1} << 52;
  if (rate.algorithm == Rate::Algorithm::no_limit) return true;
  const std::uint32_t burst = rate.burst != 0 ? rate.burst : rate.count;
  std::int64_t product = 0;
  return rate.count - 1 < kMaxCount && burst - 1 < kMaxCount &&
         (rate.burst == 0 || rate.algorithm == Rate::Algorithm::gcra) &&
         rate.period > Duration(0) && rate.period <= kMaxTtl &&
         !__builtin_mul_overflow(std::int64_t{std::max(burst, cost)}, rate.period.count(),
                                 &product) &&
         product <= kMaxProduct;
}

// InvalidArgument that names the rule that is broken, if one is.
void check_rate(const Rate& rate, std::uint32_t cost = 0);

}  // namespace airlock::base
