#pragma once

#include "model/extents.hpp"
#include "model/records.hpp"

// The orders in which a gate's trees (tree.hpp) keep its visits.

namespace airlock::model {

// What ends first comes first.
struct DeadlineOrder {
  static constexpr bool kSums = false;
  const ExtentArray<ByDeadline>* nodes;
  [[nodiscard]] Links& links(Ref ref) const noexcept { return (*nodes)[ref].links; }
  [[nodiscard]] bool before(Ref a, Ref b) const noexcept {
    return (*nodes)[a].deadline < (*nodes)[b].deadline;
  }
};

// The line: higher priorities first, then by arrival. Knows of every subtree how many wait in it and how many
// of those can be reached.
struct LineOrder {
  static constexpr bool kSums = true;
  const ExtentArray<ByOrder>* nodes;
  [[nodiscard]] Links& links(Ref ref) const noexcept { return (*nodes)[ref].links; }
  [[nodiscard]] bool before(Ref a, Ref b) const noexcept {
    const ByOrder& x = (*nodes)[a];
    const ByOrder& y = (*nodes)[b];
    return x.priority != y.priority ? x.priority > y.priority : x.ticket < y.ticket;
  }
  void sum(Ref ref) const noexcept;
  void add(Ref above, Ref ref) const noexcept {
    (*nodes)[above].in_subtree += 1;
    (*nodes)[above].present_in_subtree += (*nodes)[ref].present ? 1 : 0;
  }
  void subtract(Ref above, Ref ref) const noexcept {
    (*nodes)[above].in_subtree -= 1;
    (*nodes)[above].present_in_subtree -= (*nodes)[ref].present ? 1 : 0;
  }
};

}  // namespace airlock::model
