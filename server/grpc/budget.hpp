#pragma once

#include <algorithm>
#include <cstdint>

#include "grpc/call.hpp"

namespace airlock::server::grpc {

// How much work that answers no call a client may cause: frames of control, and calls that it takes back at once. It refills
// with time and with each call that is answered, so that a client that works is never near its end.
class Budget {
 public:
  static constexpr std::int64_t kMax = 2'000;
  static constexpr std::int64_t kPerSecond = 100;
  static constexpr std::int64_t kPerCall = 8;

  explicit Budget(TimePoint now) noexcept : last_(now) {}

  // False: it is used up.
  [[nodiscard]] bool spend(std::int64_t points, TimePoint now) noexcept {
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_);
    if (elapsed.count() > 0) {
      last_ += elapsed;
      left_ = std::min(kMax * kParts,
                       left_ + std::min<std::int64_t>(elapsed.count(), kMax * kParts) * kPerSecond);
    }
    left_ -= points * kParts;
    return left_ >= 0;
  }
  void answer() noexcept { left_ = std::min(kMax * kParts, left_ + kPerCall * kParts); }

 private:
  static constexpr std::int64_t kParts = 1'000;  // Of a point, so that a millisecond counts.

  std::int64_t left_ = kMax * kParts;
  TimePoint last_;
};

}  // namespace airlock::server::grpc
