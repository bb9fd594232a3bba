#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace airlock {

// A forked child that ends with what `work` says, and is killed if it hangs.
[[nodiscard]] inline pid_t start_child(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    _exit(work() ? 0 : 1);
  }
  return child;
}

// True: it said so.
[[nodiscard]] inline bool holds_in(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

[[nodiscard]] inline bool holds_in_child(const std::function<bool()>& work) {
  return holds_in(start_child(work));
}

}  // namespace airlock
