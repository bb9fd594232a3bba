#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): raise is POSIX here

#include <functional>
#include <utility>

#include "base/clock.hpp"

namespace airlock {

// Stops the process in the middle of a step, with the lock of the shard.
class StoppingClock final : public Clock {
 public:
  Instant now() noexcept override {
    if (std::exchange(stops_, false)) {
      before_();
      raise(SIGSTOP);
    }
    return Clock::system().now();
  }
  Instant wall() noexcept override { return Clock::system().wall(); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override {
    Clock::system().wait_until(lock, changed, deadline);
  }
  // `before` is called there first.
  void stop_at_next_step(std::function<void()> before = [] {}) {
    before_ = std::move(before);
    stops_ = true;
  }

 private:
  std::function<void()> before_;
  bool stops_ = false;
};

}  // namespace airlock
