#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>

namespace airlock::testing {

// How long the calling thread was ready to run while the machine had others to run, since it began.
// What a call took less what this grew meanwhile is the call's own doing. 0 where the kernel does not
// tell.
[[nodiscard]] inline std::chrono::nanoseconds cpu_wait() {
  std::ifstream file("/proc/thread-self/schedstat");
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  file >> ran >> waited;
  return std::chrono::nanoseconds(waited);
}

}  // namespace airlock::testing
