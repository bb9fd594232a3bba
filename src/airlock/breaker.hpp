#pragma once

#include <algorithm>
#include <atomic>

#include "airlock/clock.hpp"
#include "base/random.hpp"

namespace airlock::keeping {

// Spares a store that does not answer: after a failure one caller tries it again after 50 ms, then
// after twice as long each time, at least every second; the others do not ask at all meanwhile.
class Breaker {
 public:
  // Whether to ask the store now. Who is told so reports how it went.
  [[nodiscard]] bool allows(Clock& clock) noexcept {
    Instant retry = retry_.load(std::memory_order_relaxed);
    if (retry == Instant{0}) [[likely]]
      return true;
    const Instant now = clock.now();
    return now >= retry && retry_.compare_exchange_strong(retry, now + kMost);
  }

  void succeeded() noexcept {
    if (retry_.load(std::memory_order_relaxed) == Instant{0}) [[likely]]
      return;
    retry_ = Instant{0};
    pause_ = kLeast;
  }

  void failed(Clock& clock) {
    const Duration pause = pause_;
    pause_ = std::min(2 * pause, kMost);
    retry_ =
        clock.now() + pause - pause / 4 * static_cast<std::int64_t>(base::random31() % 256) / 256;
  }

 private:
  static constexpr Duration kLeast = std::chrono::milliseconds(50);
  static constexpr Duration kMost = std::chrono::seconds(1);

  std::atomic<Instant> retry_{Instant{0}};  // 0: the store answers.
  std::atomic<Duration> pause_{kLeast};
};

}  // namespace airlock::keeping
