#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): raise is POSIX here

#include "airlock/clock.hpp"

namespace airlock {

// Stops the process in the middle of a step, with the lock of the shard.
class StoppingClock final : public Clock {
 public:
  Instant now() noexcept override {
    if (stops_) {
      stops_ = false;
      raise(SIGSTOP);
    }
    return Clock::system().now();
  }
  Instant wall() noexcept override { return Clock::system().wall(); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override {
    Clock::system().wait_until(lock, changed, deadline);
  }
  void stop_at_next_step() { stops_ = true; }

 private:
  bool stops_ = false;
};

}  // namespace airlock
