#pragma once

#include <cstdint>

namespace airlock::model {

// The random numbers of lotteries: x * 48271 mod (2^31 - 1). Exact in doubles, so that every store
// draws alike from the same seed.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) noexcept : x_(seed % kModulus == 0 ? 1 : seed % kModulus) {}

  [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept {
    x_ = static_cast<std::uint32_t>(std::uint64_t{x_} * 48271 % kModulus);
    return n == 0 ? 0 : x_ % n;  // None to choose from: only where memory is damaged.
  }

 private:
  static constexpr std::uint32_t kModulus = 2'147'483'647;
  std::uint32_t x_;
};

}  // namespace airlock::model
