#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "airlock/store.hpp"

// Something that a step needs is refused: memory, or a system call. Whatever the step says then, the
// store must be as before or as if nothing had been refused.

namespace airlock {

struct FailingStep {
  std::string name;
  std::function<void(const Store&)> prepare;
  std::function<void(const Store&)> step;
};

[[nodiscard]] std::vector<FailingStep> failing_steps();

// All that can be seen of it, without counters and fences, which may have gone on.
[[nodiscard]] std::string state_of(const Store& store);

// What came of a step in which something was refused.
struct FailedStep {
  std::string before;    // The state of the store,
  std::string complete;  // as it is after the step when nothing is refused,
  std::string after;     // and as it is now.
  enum class Said { done, nothing_happened, failed } said = Said::done;

  // Empty: all is well.
  [[nodiscard]] std::string wrong() const;
};

// Runs it; what it throws is what it said.
[[nodiscard]] FailedStep::Said said_by(const std::function<void(const Store&)>& step,
                                       const Store& store);

}  // namespace airlock
