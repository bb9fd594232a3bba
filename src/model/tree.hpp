#pragma once

#include <cstdint>
#include <utility>

#include "model/extents.hpp"
#include "model/traversal_budget.hpp"

namespace airlock::model {

// A place in a tree; kept in the record itself.
struct Links {
  Ref left = kNone;
  Ref right = kNone;
  Ref parent = kNone;
};

// A tree whose first and last records are at hand.
struct Ends {
  Ref root = kNone;
  Ref first = kNone;
  Ref last = kNone;

  [[nodiscard]] bool is_empty() const noexcept { return root == kNone; }
};

// An ordered set of records: a treap whose priorities are hashes of the places, so that it needs no
// random source and no balance fields. Expected O(log n) everywhere; erasing needs no search and
// touches only neighbours unless sums are kept.
//
// Traits:
//   Links& links(Ref)             where the record keeps its place
//   bool before(Ref, Ref)         a strict order
//   static constexpr bool kSums   whether the records keep sums over their subtrees
//   void sum(Ref)                 the record's sums from its children's
//   void add(Ref above, Ref)      the record is below that one now
//   void subtract(Ref above, Ref) or is no more
template <typename Traits>
class Tree {
 public:
  explicit Tree(Traits traits) noexcept : traits_(traits) {}

  void insert(Ref& root, Ref ref) const {
    if (root != kNone) return insert_below(root, ref);
    root = ref;
    traits_.links(ref) = {kNone, kNone, kNone};
    if constexpr (Traits::kSums) traits_.sum(ref);
  }

  void erase(Ref& root, Ref ref) const {
    const Links& links = traits_.links(ref);
    if (links.left != kNone || links.right != kNone || links.parent != kNone) {
      return erase_among(root, ref);
    }
    root = kNone;
  }

  // The same where the ends are kept. Without sums, which change all the way down, who comes after
  // everybody, as deadlines mostly do, is put there in O(1).
  void insert(Ends& ends, Ref ref) const {
    if (ends.is_empty()) {
      ends.first = ends.last = ref;
      return insert(ends.root, ref);
    }
    if (traits_.before(ref, ends.last)) {
      if (traits_.before(ref, ends.first)) ends.first = ref;
      return insert_below(ends.root, ref);
    }
    const Ref before = std::exchange(ends.last, ref);
    if constexpr (Traits::kSums) {
      insert_below(ends.root, ref);
    } else {
      put(ends.root, traits_.links(before).right, before, ref);
    }
  }

  void erase(Ends& ends, Ref ref) const {
    const Links& links = traits_.links(ref);
    if (ends.last == ref) ends.last = links.left != kNone ? last(links.left) : links.parent;
    if (ends.first == ref) ends.first = links.right != kNone ? first(links.right) : links.parent;
    erase(ends.root, ref);
  }

  [[nodiscard]] Ref first(Ref root) const {
    if (root == kNone) return kNone;
    for (TraversalBudget budget; traits_.links(root).left != kNone;
         root = traits_.links(root).left) {
      budget.step();
    }
    return root;
  }

  [[nodiscard]] Ref next(Ref ref) const {
    TraversalBudget budget;
    return next(ref, budget);
  }
  // With a budget for the whole walk: from the first to the last every way is gone once down and once up.
  [[nodiscard]] Ref next(Ref ref, TraversalBudget& budget) const {
    if (Ref below = traits_.links(ref).right; below != kNone) {
      for (; traits_.links(below).left != kNone; below = traits_.links(below).left) budget.step();
      return below;
    }
    Ref parent = traits_.links(ref).parent;
    while (parent != kNone && traits_.links(parent).right == ref) {
      budget.step();
      ref = parent;
      parent = traits_.links(ref).parent;
    }
    return parent;
  }

 private:
  // Out of line: with nobody else in the tree, the usual case, none of it runs.
  [[nodiscard]] Ref last(Ref root) const {
    for (TraversalBudget budget; traits_.links(root).right != kNone;
         root = traits_.links(root).right) {
      budget.step();
    }
    return root;
  }

  [[gnu::noinline]] void insert_below(Ref& root, Ref ref) const {
    Ref parent = kNone;
    Ref* place = &root;
    TraversalBudget budget;
    while (*place != kNone) {
      budget.step();
      parent = *place;
      if constexpr (Traits::kSums) traits_.add(parent, ref);
      Links& links = traits_.links(parent);
      place = traits_.before(ref, parent) ? &links.left : &links.right;
    }
    put(root, *place, parent, ref);
  }

  // In this empty place below `parent`, then up as far as it belongs.
  [[gnu::noinline]] void put(Ref& root, Ref& place, Ref parent, Ref ref) const {
    place = ref;
    traits_.links(ref) = {kNone, kNone, parent};
    if constexpr (Traits::kSums) traits_.sum(ref);
    TraversalBudget budget;
    while (traits_.links(ref).parent != kNone &&
           priority(traits_.links(ref).parent) < priority(ref)) {
      budget.step();
      rotate_up(root, ref);
    }
  }

  [[gnu::noinline]] void erase_among(Ref& root, Ref ref) const {
    Links& links = traits_.links(ref);
    // Sent for together: in a large tree each is a wait for memory.
    for (const Ref other : {links.left, links.right, links.parent}) {
      __builtin_prefetch(&traits_.links(other));
    }
    TraversalBudget budget;
    while (links.left != kNone && links.right != kNone) {
      budget.step();
      rotate_up(root, priority(links.left) > priority(links.right) ? links.left : links.right);
    }
    const Ref child = links.left != kNone ? links.left : links.right;
    if (child != kNone) traits_.links(child).parent = links.parent;
    place_of(root, ref) = child;
    if constexpr (Traits::kSums) {
      for (Ref above = links.parent; above != kNone; above = traits_.links(above).parent) {
        budget.step();
        traits_.subtract(above, ref);
      }
    }
  }

  static std::uint32_t priority(Ref ref) noexcept {
    std::uint32_t x = ref * 0x9E3779B1U;
    x = (x ^ (x >> 15)) * 0x85EBCA77U;
    return x ^ (x >> 13);
  }

  // The link that points at `ref`.
  Ref& place_of(Ref& root, Ref ref) const noexcept {
    const Ref parent = traits_.links(ref).parent;
    if (parent == kNone) return root;
    Links& links = traits_.links(parent);
    return links.left == ref ? links.left : links.right;
  }

  // `ref` takes its parent's place.
  void rotate_up(Ref& root, Ref ref) const noexcept {
    Links& links = traits_.links(ref);
    const Ref parent = links.parent;
    Links& above = traits_.links(parent);
    place_of(root, parent) = ref;
    Ref& inner = above.left == ref ? links.right : links.left;
    Ref& given = above.left == ref ? above.left : above.right;
    given = inner;
    if (inner != kNone) traits_.links(inner).parent = parent;
    inner = parent;
    links.parent = std::exchange(above.parent, ref);
    if constexpr (Traits::kSums) {
      traits_.sum(parent);
      traits_.sum(ref);
    }
  }

  Traits traits_;
};

}  // namespace airlock::model
