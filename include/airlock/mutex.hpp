#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "airlock/ask.hpp"
#include "airlock/duration.hpp"
#include "airlock/lease.hpp"
#include "airlock/observer.hpp"
#include "airlock/outcome.hpp"
#include "airlock/store.hpp"
#include "airlock/version.hpp"

namespace airlock {

namespace internal {
class AdmissionClient;
}

struct MutexOptions {
  AnyDuration ttl = std::chrono::seconds(30);  // A holder that vanished is out after this.
  AnyDuration max_hold = kForever;             // A hung holder is out after this.
  std::uint32_t readers = 1 << 16;             // How many may share it. All users say the same.
  AnyObserver observer = {};
};

// A lock over a gate for std::unique_lock, std::shared_lock and std::scoped_lock: TimedLockable and
// SharedTimedLockable, between threads, processes and hosts.
//
//   Mutex ledger{store, "ledger"};
//   std::scoped_lock lock(ledger);
//   write(row, ledger.fence());
//
// Readers and writers wait in one line, in order of arrival: neither starves. Unlike std::mutex it
// can be lost: work that must not overlap watches lost(). What the store throws, lock() throws.
//
// Each thread that locked it has its own lease; threads that start later never take it over:
// - unlock() and unlock_shared() give back the lease of the calling thread. From a thread that has
//   none of that kind they do nothing and are counted (foreign_unlocks). To hand a lock to another
//   thread, use a Lease.
// - A thread that has it locked, exclusive or shared, and locks it again gets a std::system_error
//   (resource_deadlock_would_occur), also from try_lock() and also if its lease was lost: unlock
//   first. Locking the same gate through another Mutex is not noticed.
// - The lease of a thread that ended without unlocking is kept and renewed, up to max_hold.
// - The destructor gives back every lease that is left. No other thread may be in a call.
// - A forked child has locked nothing: its unlock() does nothing, and it can lock for itself.
class AIRLOCK_EXPORT Mutex {
 public:
  Mutex(const Store& store, const GateName& gate, const MutexOptions& options = {});
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex();

  // NOLINTBEGIN(readability-identifier-naming): the names that the standard calls
  void lock();  // BulkheadFullError if the store refuses all the same.
  bool try_lock();
  // Any length: below 0 is one attempt, too long is for ever.
  template <typename Rep, typename Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
    return try_enter(Kind::exclusive, saturating_ceil(time));
  }
  template <typename Clock, typename Span>
  bool try_lock_until(const std::chrono::time_point<Clock, Span>& time) {
    return try_enter(Kind::exclusive, time_until(time));
  }
  void unlock() noexcept;

  void lock_shared();
  bool try_lock_shared();
  template <typename Rep, typename Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& time) {
    return try_enter(Kind::shared, saturating_ceil(time));
  }
  template <typename Clock, typename Span>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Span>& time) {
    return try_enter(Kind::shared, time_until(time));
  }
  void unlock_shared() noexcept;
  // NOLINTEND(readability-identifier-naming)

  // Of the calling thread's lease; 0, false and a token that never fires if it has none.
  [[nodiscard]] Fence fence() const;
  [[nodiscard]] bool valid() const;
  [[nodiscard]] std::stop_token lost() const;

 private:
  enum class Kind : std::uint8_t { exclusive, shared };

  template <typename Clock, typename Span>
  static Duration time_until(const std::chrono::time_point<Clock, Span>& time) {
    return saturating_sub(saturating_ceil(time.time_since_epoch()),
                          saturating_ceil(Clock::now().time_since_epoch()));
  }

  void enter(Kind kind);
  bool try_enter(Kind kind, Duration max_wait);
  void leave(Kind kind) noexcept;

  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A lock for each of many keys. Any bytes are a key; keys that nobody uses cost nothing.
//
//   KeyedLock orders{store, "orders"};
//   Lease lease = orders.lock(order_id);
class AIRLOCK_EXPORT KeyedLock {
 public:
  KeyedLock(const Store& store, std::string_view prefix, const MutexOptions& options = {});
  KeyedLock(const KeyedLock&);
  KeyedLock& operator=(const KeyedLock&);
  ~KeyedLock();

  [[nodiscard]] GateName gate(std::string_view key) const { return gate_name(prefix_, key); }

  // Waits for its turn, as long as it takes. BulkheadFullError if the store refuses all the same.
  [[nodiscard]] Lease lock(std::string_view key, const Ask& ask = {}) const;

  [[nodiscard]] Outcome<Lease> try_lock(std::string_view key, const Ask& ask = {}) const;
  [[nodiscard]] Outcome<Lease> try_lock_for(std::string_view key, AnyDuration max_wait,
                                            const Ask& ask = {}) const;

 private:
  std::shared_ptr<internal::AdmissionClient> client_;
  std::string prefix_;
};

// How many calls of unlock() and unlock_shared() in this process came from a thread that had not
// locked, or had locked in the other way. They did nothing.
[[nodiscard]] AIRLOCK_EXPORT std::uint64_t foreign_unlocks() noexcept;

}  // namespace airlock
