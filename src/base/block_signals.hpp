#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX

namespace airlock::base {

// Blocks all signals of this thread while it lives. A new thread inherits that: the program's
// signals go to the program's threads.
class BlockSignals {
 public:
  BlockSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace airlock::base
