#include "base/mutex.hpp"

namespace airlock::base {

// Whoever slept does not know whether others still do, so it takes the lock as awaited.
void Mutex::wait() noexcept {
  constexpr int kSpins = 100;
  for (int i = 0; i < kSpins; ++i) {
    int expected = kFree;
    if (word_.load(std::memory_order_relaxed) == kFree &&
        word_.compare_exchange_weak(expected, kLocked, std::memory_order_acquire)) {
      return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  while (word_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
    word_.wait(kAwaited, std::memory_order_relaxed);
  }
}

void Mutex::wake_one() noexcept { word_.notify_one(); }

}  // namespace airlock::base
