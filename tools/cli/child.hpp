#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "signals.hpp"

namespace airlock::cli {

// Whether this process has a terminal that can send signals to its job.
[[nodiscard]] bool has_terminal() noexcept;

// Where the shell would find the command. Exit with 127 or 126 as the shell would.
[[nodiscard]] std::string find_executable(const std::string& command);

// The command that runs inside.
class Child {
 public:
  struct Plan {
    std::string path;
    std::vector<std::string> arguments;    // With the name of the command.
    std::vector<std::string> environment;  // NAME=value, besides ours.
    bool outlives_us = false;              // Else it dies with this process.
    bool own_group = false;                // It leads a process group of its own.
  };

  // A script without `#!` is run by /bin/sh, as shells do. Exit with 126 or 127 if it does not
  // start, with 71 if there is no process for it.
  Child(const Plan& plan, const Signals& signals);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() = default;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] pid_t group() const noexcept { return own_group_ ? pid_ : 0; }  // 0: ours.

  // Passes a signal on. What ends, stops or continues a job goes to its whole group, if it has one.
  void send(int signal) const noexcept;

  // Collects what has ended, also orphans where this process is their init. How the child ended, as
  // a shell says it, once it has.
  [[nodiscard]] std::optional<int> status();

 private:
  pid_t pid_ = 0;
  bool own_group_;
  std::optional<int> status_;
};

}  // namespace airlock::cli
