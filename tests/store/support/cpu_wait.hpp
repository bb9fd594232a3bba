#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace airlock::testing {

[[nodiscard]] inline std::chrono::nanoseconds cpu_wait_in(const std::string& schedstat) {
  std::ifstream file(schedstat);
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  file >> ran >> waited;
  return std::chrono::nanoseconds(waited);
}

// How long the calling thread was ready to run while the machine had others to run, since it began.
// What a call took less what this grew meanwhile is the call's own doing. 0 where the kernel does not
// tell.
[[nodiscard]] inline std::chrono::nanoseconds cpu_wait() {
  return cpu_wait_in("/proc/thread-self/schedstat");
}

// The same of all threads of this process that are still there.
[[nodiscard]] inline std::chrono::nanoseconds cpu_wait_of_process() {
  std::chrono::nanoseconds sum{0};
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    sum += cpu_wait_in(task.path() / "schedstat");
  }
  return sum;
}

}  // namespace airlock::testing
