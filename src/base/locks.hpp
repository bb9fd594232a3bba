#pragma once

#include <mutex>

#include "base/thread_annotations.hpp"

namespace airlock::base {

// std::mutex, annotated: for what waits on a std::condition_variable or by a Clock. Where nobody does,
// Mutex (mutex.hpp) is cheaper.
class AIRLOCK_CAPABILITY("mutex") StdMutex : public std::mutex {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the names that the standard calls
  void lock() AIRLOCK_ACQUIRE() { std::mutex::lock(); }
  bool try_lock() AIRLOCK_TRY_ACQUIRE(true) { return std::mutex::try_lock(); }
  void unlock() AIRLOCK_RELEASE() { std::mutex::unlock(); }
  // NOLINTEND(readability-identifier-naming)
};

// std::lock_guard, annotated.
template <typename M>
class [[nodiscard]] AIRLOCK_SCOPED_CAPABILITY LockGuard {
 public:
  explicit LockGuard(M& mutex) AIRLOCK_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  // What try_lock() has locked.
  LockGuard(M& mutex, std::adopt_lock_t /*tag*/) AIRLOCK_REQUIRES(mutex) : mutex_(mutex) {}
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;
  ~LockGuard() AIRLOCK_RELEASE() { mutex_.unlock(); }

 private:
  M& mutex_;
};

// std::unique_lock, annotated. It is one to all that waits: condition variables and Clock::wait_until().
class [[nodiscard]] AIRLOCK_SCOPED_CAPABILITY UniqueLock {
 public:
  explicit UniqueLock(StdMutex& mutex) AIRLOCK_ACQUIRE(mutex) : lock_(mutex) {}
  UniqueLock(const UniqueLock&) = delete;
  UniqueLock& operator=(const UniqueLock&) = delete;
  ~UniqueLock() AIRLOCK_RELEASE() = default;

  void lock() AIRLOCK_ACQUIRE() { lock_.lock(); }
  void unlock() AIRLOCK_RELEASE() { lock_.unlock(); }

  // NOLINTNEXTLINE(google-explicit-constructor): passed where a std::unique_lock is expected
  operator std::unique_lock<std::mutex>&() noexcept { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace airlock::base
