#pragma once

#include <chrono>
#include <condition_variable>

#include "base/locks.hpp"

namespace airlock::base {

// As std::timed_mutex, whose unlock() the thread sanitizer of gcc 12 takes for that of a stranger: it
// does not know pthread_mutex_clocklock().
class AIRLOCK_CAPABILITY("mutex") TimedMutex {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the names that the standard calls
  bool try_lock() AIRLOCK_TRY_ACQUIRE(true) {
    const LockGuard lock(mutex_);
    if (is_locked_) return false;
    return is_locked_ = true;
  }
  template <typename Clock, typename Span>
  bool try_lock_until(const std::chrono::time_point<Clock, Span>& time) AIRLOCK_TRY_ACQUIRE(true) {
    UniqueLock lock(mutex_);
    if (!unlocked_.wait_until(lock, time,
                              [this]() AIRLOCK_REQUIRES(mutex_) { return !is_locked_; }))
      return false;
    return is_locked_ = true;
  }
  void unlock() AIRLOCK_RELEASE() {
    {
      const LockGuard lock(mutex_);
      is_locked_ = false;
    }
    unlocked_.notify_one();
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  StdMutex mutex_;
  std::condition_variable unlocked_;
  bool is_locked_ AIRLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace airlock::base
