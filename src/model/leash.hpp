#pragma once

#include <cstdint>

namespace airlock::model {

// Memory that others write to may hold what cannot be. Who finds that ends the step so; the shard is
// to be rebuilt then. take_damage() says once whether this thread did.
[[noreturn, gnu::cold]] void throw_damaged();
[[nodiscard]] bool take_damage() noexcept;

// Chains and trees end, unless their memory is damaged: who walks them counts.
class Leash {
 public:
  static constexpr std::uint32_t kLong = 1U << 20;  // No chain, and no way to the root, is so long.

  explicit Leash(std::uint32_t longest = kLong) noexcept : left_(longest) {}
  void step() {
    if (left_-- == 0) throw_damaged();
  }

 private:
  std::uint32_t left_;
};

}  // namespace airlock::model
