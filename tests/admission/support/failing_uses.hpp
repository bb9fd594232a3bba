#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "airlock/store.hpp"

namespace airlock {

// What a program does with a gate called `gate` of limit 1, where something is refused to it: a
// thread, a descriptor, memory. Whatever it says then, nothing is left behind and the same works
// afterwards.
struct FailingUse {
  std::string name;
  std::function<void(const Store& store)> use;
};

[[nodiscard]] std::vector<FailingUse> failing_uses();

// Runs it. Empty: it was done, or said in an Error what failed; otherwise what else was thrown.
[[nodiscard]] std::string wrongly_said_by(const FailingUse& use, const Store& store);

// Empty: nobody is inside or in line, nothing is left to release, and the use works now.
[[nodiscard]] std::string left_behind_by(const FailingUse& use, const Store& store);

}  // namespace airlock
