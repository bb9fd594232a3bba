#include "model/slots.hpp"

#include <bit>

namespace airlock::model {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint32_t kLow = 64;  // Numbers below this are bits in the gate itself.

// How many numbers a node of this level covers: 2^(12 + 6 * level).
constexpr std::uint32_t shift(std::uint32_t level) noexcept { return 12 + 6 * level; }

constexpr std::uint64_t bit(std::uint32_t n) noexcept { return std::uint64_t{1} << n; }

constexpr std::uint32_t digit(std::uint32_t number, std::uint32_t level) noexcept {
  return (number >> (shift(level) - 6)) & 63;
}

}  // namespace

// Beyond what a sound gate can have there is no end to go to.
std::uint32_t Slots::top_level(const Gate& gate) {
  if (gate.high_levels - 1 >= kMaxLevels) throw_damaged();
  return gate.high_levels - 1;
}

std::uint32_t Slots::take_high(Gate& gate) {
  if (gate.high_levels == 0 || nodes_[gate.high_slots].full == kAll) add_level(gate);
  std::uint32_t number = 0;
  Ref node = gate.high_slots;
  for (std::uint32_t level = top_level(gate);; --level) {
    const auto first = static_cast<std::uint32_t>(std::countr_one(nodes_[node].full));
    if (first >= kLow) throw_damaged();
    number |= first << (shift(level) - 6);
    if (level == 0) {
      number |= static_cast<std::uint32_t>(std::countr_one(nodes_[node].bits[first]));
      break;
    }
    node = nodes_[node].child[first];
    if (node == kNone) break;  // Nothing below is in use: the lowest of it.
  }
  set(gate.high_slots, top_level(gate), number);
  return kLow + number;
}

bool Slots::mark(Gate& gate, std::uint32_t slot) {
  if (slot < kLow) {
    gate.low_slots |= bit(slot);
    return true;
  }
  if (!nodes_.reserve(2 * kMaxLevels)) return false;
  const std::uint32_t number = slot - kLow;
  while (gate.high_levels == 0 || std::uint64_t{number} >> shift(gate.high_levels - 1) != 0) {
    add_level(gate);
  }
  set(gate.high_slots, top_level(gate), number);
  return true;
}

void Slots::give_high(Gate& gate, std::uint32_t slot) {
  if (clear(gate.high_slots, top_level(gate), slot - kLow)) {
    gate.high_slots = kNone;
    gate.high_levels = 0;
  }
}

Ref Slots::new_node() {
  const Ref ref = nodes_.take();
  SlotNode& node = nodes_[ref];
  node.used = 0;
  node.full = 0;
  node.child.fill(kNone);
  return ref;
}

// A new root above the old one.
void Slots::add_level(Gate& gate) {
  const Ref old = gate.high_slots;
  const Ref root = new_node();
  gate.high_slots = root;
  if (gate.high_levels++ == 0) {
    nodes_[root].bits.fill(0);
    return;
  }
  nodes_[root].child[0] = old;
  nodes_[root].used = 1;
  if (nodes_[old].full == kAll) nodes_[root].full = 1;
}

void Slots::set(Ref ref, std::uint32_t level, std::uint32_t number) {
  SlotNode& node = nodes_[ref];
  const std::uint32_t which = digit(number, level);
  if (level == 0) {
    node.bits[which] |= bit(number & 63);
    ++node.used;
    if (node.bits[which] == kAll) node.full |= bit(which);
    return;
  }
  if (node.child[which] == kNone) {
    const Ref child = new_node();
    if (level == 1) nodes_[child].bits.fill(0);
    node.child[which] = child;
    ++node.used;
  }
  set(node.child[which], level - 1, number);
  if (nodes_[node.child[which]].full == kAll) node.full |= bit(which);
}

// True: the node became empty and was given back.
bool Slots::clear(Ref ref, std::uint32_t level, std::uint32_t number) {
  SlotNode& node = nodes_[ref];
  const std::uint32_t which = digit(number, level);
  node.full &= ~bit(which);
  if (level == 0) {
    node.bits[which] &= ~bit(number & 63);
    --node.used;
  } else if (clear(node.child[which], level - 1, number)) {
    node.child[which] = kNone;
    --node.used;
  }
  if (node.used != 0) return false;
  nodes_.give(ref);
  return true;
}

}  // namespace airlock::model
