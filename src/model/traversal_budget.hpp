#pragma once

#include <cstdint>
#include <utility>

namespace airlock::model {

// Memory that others write to may hold what cannot be. Who finds that ends the step so; the shard is
// to be rebuilt then. take_damage() says once whether this thread did.
[[noreturn, gnu::cold]] void throw_damaged();
[[nodiscard]] inline bool take_damage() noexcept;

namespace leash_detail {

inline thread_local constinit bool g_damage = false;

}  // namespace leash_detail

bool take_damage() noexcept {
  return leash_detail::g_damage && std::exchange(leash_detail::g_damage, false);
}

// Chains and trees end, unless their memory is damaged: who walks them counts.
class TraversalBudget {
 public:
  static constexpr std::uint32_t kLong = 1U << 20;  // No chain, and no way to the root, is so long.

  explicit TraversalBudget(std::uint32_t longest = kLong) noexcept : left_(longest) {}
  void step() {
    if (left_-- == 0) throw_damaged();
  }

 private:
  std::uint32_t left_;
};

}  // namespace airlock::model
