#pragma once

#include <unistd.h>

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

// How long the processors of a virtual machine stood still, summed: its host had others to run. No timer ends
// meanwhile, so who sleeps is late too.
[[nodiscard]] inline std::chrono::nanoseconds stolen() {
  std::ifstream file("/proc/stat");
  std::string word;
  for (int i = 0; i < 9; ++i) file >> word;  // cpu user nice system idle iowait irq softirq steal
  if (!file) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(std::chrono::seconds(std::stoll(word))) / sysconf(_SC_CLK_TCK);
}

// How long the calling thread was ready to run while the machine, or its host, had others to run, since it
// began. What a call took less what this grew meanwhile is the call's own doing. 0 where the kernel does
// not tell.
[[nodiscard]] inline std::chrono::nanoseconds cpu_wait() {
  return cpu_wait_in("/proc/thread-self/schedstat") + stolen();
}

// The same of all threads of this process that are still there.
[[nodiscard]] inline std::chrono::nanoseconds cpu_wait_of_process() {
  std::chrono::nanoseconds sum = stolen();
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    sum += cpu_wait_in(task.path() / "schedstat");
  }
  return sum;
}

}  // namespace airlock::testing
