#pragma once

#include <atomic>

namespace airlock::base {

// A lock of four bytes whose uncontended pair is two atomic instructions, inline: half the price of
// std::mutex, which a step of the memory store would feel. Lockable by std::lock_guard and
// std::unique_lock.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept {
    int expected = kFree;
    if (!word_.compare_exchange_strong(expected, kLocked, std::memory_order_acquire)) wait();
  }
  void unlock() noexcept {
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
