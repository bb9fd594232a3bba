#pragma once

#include "base/block_signals.hpp"

namespace airlock::base {

// While one lives, fork() in other threads waits, and the calling thread runs no signal handlers. So
// what exists only meanwhile, such as a descriptor, is not inherited. Do not allocate meanwhile: an
// allocator with a fork handler may be locked by a thread that waits in fork(). A bare clone() does not
// wait.
class NoFork {
 public:
  NoFork() noexcept;
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
  ~NoFork();

 private:
  BlockSignals signals_;
};

}  // namespace airlock::base
