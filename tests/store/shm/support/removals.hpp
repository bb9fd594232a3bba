#pragma once

#include <cstdint>

namespace airlock {

// Threads of one process use a store while its segment is removed again and again: they admit, release,
// watch, and call the store from callbacks.
struct RemovalPlan {
  int threads = 16;
  int removals = 0;
};

struct RemovalResult {
  std::uint64_t admissions = 0;
  std::uint64_t unexpected_errors = 0;  // Other than that the segment is gone.
  std::int64_t leaked_descriptors = 0;  // More than before, when all is quiet again.
  std::int64_t leaked_mappings = 0;
};

[[nodiscard]] RemovalResult run_removals(const RemovalPlan& plan);

}  // namespace airlock
