#pragma once

#include <sched.h>

#include "base/clock.hpp"

namespace airlock::lincheck {

// The system's time, but who asks for it has to wait for others now and then. Stores ask in the middle
// of a step, so more steps overlap than on a machine with few processors by themselves.
class YieldingClock final : public Clock {
 public:
  Instant now() noexcept override {
    let_others();
    return system().now();
  }
  Instant recently() noexcept override {
    let_others();
    return system().recently();
  }
  Instant wall() noexcept override { return system().wall(); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override {
    system().wait_until(lock, changed, deadline);
  }

 private:
  static void let_others() noexcept {
    thread_local unsigned asked = 0;
    if (++asked % 8 == 0) sched_yield();
  }
};

}  // namespace airlock::lincheck
