#pragma once

#include <cstdint>
#include <functional>

namespace airlock {

// Runs work in a child, in which system calls fail from `mark_begin()` to `mark_end()`: the k-th there
// is not made and says `error` instead. Calls that only end something (close, munmap, exit), that let
// other threads run (futex) or that say no in a way of their own (brk) are made and not counted.
struct FailingCall {
  std::uint64_t k = 0;  // 0: none.
  int error = 0;

  struct Result {
    std::uint64_t calls = 0;  // That were made between the marks.
    long failed = -1;         // The number of the one that failed; -1: none.
    bool ended_well = false;  // The child ended by itself.
    int status = 0;           // How it ended, as waitpid() says.
  };
  // x86-64 only.
  [[nodiscard]] Result run(const std::function<void()>& work) const;

  static void mark_begin();
  static void mark_end();
};

}  // namespace airlock
