#pragma once

#include <algorithm>
#include <atomic>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace airlock::base {

// Spares what does not answer: after a failure one caller tries it again after a pause of `least`,
// then after about twice as long each time, at most `most`; the others do not ask at all meanwhile.
// Safe to use from any thread.
class Breaker {
 public:
  Breaker(Duration least, Duration most) noexcept : least_(least), most_(most), pause_(least) {}

  // Whether to ask now. Who is told so reports how it went; who tries again is the only one for
  // `trial`.
  [[nodiscard]] bool allows(Clock& clock, Duration trial) noexcept {
    Instant retry = retry_.load(std::memory_order_relaxed);
    if (retry == Instant{0}) [[likely]]
      return true;
    const Instant now = clock.now();
    if (now < retry || !retry_.compare_exchange_strong(retry, now + trial)) return false;
    trying_ = true;
    return true;
  }

  // It answers, as far as is known.
  [[nodiscard]] bool is_closed() const noexcept { return retry_.load() == Instant{0}; }

  void succeeded() noexcept {
    if (retry_.load(std::memory_order_relaxed) == Instant{0}) [[likely]]
      return;
    retry_ = Instant{0};
    pause_ = least_;
    trying_ = false;
  }

  // Those who had asked before the first failure say nothing new.
  void failed(Clock& clock) {
    const bool tried = trying_.exchange(false);
    if (!tried && retry_.load() != Instant{0}) return;
    const Duration half = pause_.load() / 2;
    pause_ = std::min(4 * half, most_);
    retry_ = clock.now() + half + half * static_cast<std::int64_t>(base::random31() % 256) / 256;
  }

 private:
  const Duration least_;
  const Duration most_;
  std::atomic<Instant> retry_{Instant{0}};  // 0: it answers.
  std::atomic<Duration> pause_;
  std::atomic<bool> trying_ = false;
};

}  // namespace airlock::base
