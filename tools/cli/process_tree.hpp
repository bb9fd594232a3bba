#pragma once

#include <sys/types.h>

#include <string_view>

namespace airlock::cli {

// Which processes belong to a command: those that any of the conditions holds for.
struct ProcessTree {
  pid_t ancestor = 0;  // Its descendants; 0: this condition is off.
  int ancestor_fd =
      -1;  // A pidfd of the ancestor, which is believed only while that lives; -1: it is the caller.
  pid_t except = 0;  // A descendant that does not belong to it, with all of its own.
  pid_t group = 0;   // The members of this process group in this session; 0: off.
  pid_t session = 0;
  std::string_view mark = {};  // Processes whose environment contains this text; empty: off.
};

// Sends a signal to every process of the tree that lives, each of them once; with signal 0 only
// counts them. Returns how many there are, or -1 if /proc does not show the processes of this PID
// namespace. Zombies are not counted.
//
// All are found before the first one is signalled, because a process whose parent has ended has
// lost its ancestry. A process id may be used again at any time: each process is pinned by a pidfd
// and then looked at once more.
//
// Neither allocates nor locks: may be called in the forked child of a process that has threads.
[[nodiscard]] int signal_tree(const ProcessTree& tree, int signal) noexcept;

}  // namespace airlock::cli
