#pragma once

#include <vector>

#include "store/shm/support/crash_walk.hpp"

namespace airlock {

// One for each thing that a process may die in.
[[nodiscard]] std::vector<CrashWalk> crash_walks();

}  // namespace airlock
