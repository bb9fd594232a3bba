#pragma once

#include <atomic>

#include "base/thread_annotations.hpp"

namespace airlock::base {

// A lock of four bytes whose uncontended pair is two atomic instructions, inline: half the price of
// std::mutex, which a step of the memory store would feel. Locked by LockGuard (locks.hpp).
class AIRLOCK_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept AIRLOCK_ACQUIRE() {
    int expected = kFree;
    if (!word_.compare_exchange_strong(expected, kLocked, std::memory_order_acquire)) wait();
  }
  // Does nothing: says to clang that the caller holds it.
  void assert_held() const noexcept AIRLOCK_ASSERT_CAPABILITY() {}

  void unlock() noexcept AIRLOCK_RELEASE() {
    if (word_.exchange(kFree, std::memory_order_release) == kAwaited) wake_one();
  }

 private:
  static constexpr int kFree = 0;
  static constexpr int kLocked = 1;
  static constexpr int kAwaited = 2;  // Locked, and somebody may sleep.

  [[gnu::cold]] void wait() noexcept;
  [[gnu::cold]] void wake_one() noexcept;

  std::atomic<int> word_{kFree};
};

}  // namespace airlock::base
