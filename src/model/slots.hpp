#pragma once

#include <bit>
#include <cstdint>

#include "model/records.hpp"
#include "model/traversal_budget.hpp"

namespace airlock::model {

// The slot numbers in use at a gate. The lowest free one is found in O(1) below 64, else in as many
// steps as the number has digits to the base 64. Derived from the holders' `slot`.
class Slots {
 public:
  explicit Slots(Pool<SlotNode>& nodes) noexcept : nodes_(nodes) {}

  // Room for whatever the next take() needs.
  [[nodiscard]] bool reserve(const Gate& gate) {
    return gate.low_slots != ~std::uint64_t{0} || nodes_.reserve(kMaxLevels + 1);
  }

  // The lowest free number, now in use. REQUIRES: reserve().
  [[nodiscard]] std::uint32_t take(Gate& gate) {
    if (gate.low_slots == ~std::uint64_t{0}) return take_high(gate);
    const auto slot = static_cast<std::uint32_t>(std::countr_one(gate.low_slots));
    gate.low_slots |= std::uint64_t{1} << slot;
    return slot;
  }
  void give(Gate& gate, std::uint32_t slot) {
    if (slot >= 64) return give_high(gate, slot);
    gate.low_slots &= ~(std::uint64_t{1} << slot);
  }

  // For rebuild: this number is in use. False: no room for it.
  [[nodiscard]] bool mark(Gate& gate, std::uint32_t slot);

 private:
  static constexpr std::uint32_t kMaxLevels = 5;

  [[nodiscard]] std::uint32_t take_high(Gate& gate);
  void give_high(Gate& gate, std::uint32_t slot);
  [[nodiscard]] static std::uint32_t top_level(const Gate& gate);
  [[nodiscard]] Ref new_node();
  void add_level(Gate& gate);
  void set(Ref ref, std::uint32_t level, std::uint32_t number);
  [[nodiscard]] bool clear(Ref ref, std::uint32_t level, std::uint32_t number);

  Pool<SlotNode>& nodes_;
};

}  // namespace airlock::model
