#pragma once

#include <algorithm>
#include <chrono>

#include "airlock/duration.hpp"

namespace airlock::redis {

// When a call must be over. Real time, also where a test steps the store's clock.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(Duration timeout) : at_(Clock::now() + timeout) {}
  explicit Deadline(Clock::time_point at) : at_(at) {}

  [[nodiscard]] Clock::time_point at() const noexcept { return at_; }
  [[nodiscard]] bool is_over() const noexcept { return Clock::now() >= at_; }
  [[nodiscard]] std::chrono::nanoseconds left() const noexcept {
    return std::max(std::chrono::nanoseconds(0),
                    std::chrono::duration_cast<std::chrono::nanoseconds>(at_ - Clock::now()));
  }
  [[nodiscard]] Deadline sooner(Duration timeout) const {
    Deadline other = *this;
    const Clock::time_point now = Clock::now();
    if (timeout < std::chrono::duration_cast<Duration>(at_ - now)) other.at_ = now + timeout;
    return other;
  }

  // The caller has less time than the store gives a server: that nothing was heard until then says
  // nothing of the server.
  [[nodiscard]] Deadline cut_short() const {
    Deadline other = *this;
    other.is_cut_short_ = true;
    return other;
  }
  [[nodiscard]] bool is_cut_short() const noexcept { return is_cut_short_; }

 private:
  Clock::time_point at_;
  bool is_cut_short_ = false;
};

}  // namespace airlock::redis
