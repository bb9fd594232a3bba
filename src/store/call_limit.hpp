#pragma once

#include <algorithm>

#include "airlock/clock.hpp"

namespace airlock {

// While it lives, calls of this thread to a store end after `left`, also where the store's own
// timeout is longer: a caller that waits keeps its own deadline. Real time, as the timeout is.
class CallLimit {
 public:
  explicit CallLimit(Duration left) : before_(end_) {
    if (left != kForever) end_ = std::min(before_, saturating_add(Clock::system().now(), left));
  }
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
  ~CallLimit() { end_ = before_; }

  // What a call may take now, at most `timeout`.
  [[nodiscard]] static Duration within(Duration timeout) {
    if (end_ == kForever) return timeout;
    return std::clamp(end_ - Clock::system().now(), Duration(0), timeout);
  }

 private:
  static constinit thread_local inline Instant end_ = kForever;

  const Instant before_;
};

}  // namespace airlock
