#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "airlock/ask.hpp"
#include "airlock/export.hpp"
#include "airlock/lease.hpp"
#include "airlock/observer.hpp"
#include "airlock/outcome.hpp"
#include "airlock/store.hpp"

namespace airlock {

namespace keeping {
class Entrance;
}

struct MutexOptions {
  Duration ttl = std::chrono::seconds(30);  // A holder that vanished is out after this.
  Duration max_hold = kForever;             // A hung holder is out after this.
  std::uint32_t readers = 1 << 16;          // How many may share it. All users say the same.
  std::shared_ptr<Observer> observer = {};
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
class AIRLOCK_EXPORT Mutex {
 public:
  Mutex(std::shared_ptr<Store> store, const GateName& gate, const MutexOptions& options = {});
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex();

  // NOLINTBEGIN(readability-identifier-naming): the names that the standard calls
  void lock();
  bool try_lock();
  template <typename Rep, typename Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
    return enter(Kind::exclusive, std::chrono::ceil<Duration>(time));
  }
  template <typename Clock, typename Span>
  bool try_lock_until(const std::chrono::time_point<Clock, Span>& time) {
    return try_lock_for(time - Clock::now());
  }
  void unlock() noexcept;

  void lock_shared();
  bool try_lock_shared();
  template <typename Rep, typename Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& time) {
    return enter(Kind::shared, std::chrono::ceil<Duration>(time));
  }
  template <typename Clock, typename Span>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Span>& time) {
    return try_lock_shared_for(time - Clock::now());
  }
  void unlock_shared() noexcept;
  // NOLINTEND(readability-identifier-naming)

  // For whoever has it locked, alone.
  [[nodiscard]] Fence fence() const;
  [[nodiscard]] bool valid() const;
  [[nodiscard]] std::stop_token lost() const;

 private:
  enum class Kind { exclusive, shared };
  bool enter(Kind kind, Duration max_wait);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A lock for each of many keys. Any bytes are a key; keys that nobody uses cost nothing.
//
//   KeyedLock orders{store, "orders"};
//   Lease lease = orders.lock(order_id);
class AIRLOCK_EXPORT KeyedLock {
 public:
  KeyedLock(std::shared_ptr<Store> store, std::string_view prefix,
            const MutexOptions& options = {});
  KeyedLock(const KeyedLock&);
  KeyedLock& operator=(const KeyedLock&);
  ~KeyedLock();

  [[nodiscard]] GateName gate(std::string_view key) const { return gate_name(prefix_, key); }

  // Waits for its turn, as long as it takes.
  [[nodiscard]] Lease lock(std::string_view key) const;

  // Does not wait unless the Ask says so.
  [[nodiscard]] Outcome<Lease> try_lock(std::string_view key, Ask ask = {}) const;

 private:
  std::shared_ptr<keeping::Entrance> entrance_;
  std::string prefix_;
};

}  // namespace airlock
