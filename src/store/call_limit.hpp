#pragma once

#include <algorithm>

#include "base/clock.hpp"

namespace airlock {

// While it lives, calls of this thread to a store end after `left`, also where the store's own
// timeout is longer: a caller that waits keeps its own deadline. Real time, as the timeout is.
class CallLimit {
 public:
  explicit CallLimit(Duration left) : before_(t_end) {
    if (left != kForever) t_end = std::min(before_, saturating_add(Clock::system().now(), left));
  }
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
  ~CallLimit() { t_end = before_; }

  // What a call may take now, at most `timeout`.
  [[nodiscard]] static Duration within(Duration timeout) {
    if (t_end == kForever) return timeout;
    return std::clamp(t_end - Clock::system().now(), Duration(0), timeout);
  }

 private:
  static constinit thread_local inline Instant t_end = kForever;

  const Instant before_;
};

}  // namespace airlock
