#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "admission/release_queue.hpp"
#include "admission/timers.hpp"
#include "admission/worker.hpp"
#include "airlock/lease.hpp"
#include "airlock/observer.hpp"
#include "base/clock.hpp"
#include "base/locks.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "store/backend.hpp"
#include "store/servers.hpp"

namespace airlock::internal {

class AsyncEntries;
struct Lane;

// The threads in drain() and flush(), and whoever may have done what they wait for.
struct Awaiting {
  void tell() noexcept {
    if (threads == 0) return;
    const std::lock_guard lock(mutex);
    changed.notify_all();
  }

  std::atomic<std::size_t> threads = 0;
  std::mutex mutex;
  std::condition_variable changed;
};

// How a lease is to be kept.
struct Terms {
  Duration ttl{0};
  Duration max_hold = kForever;  // From the admission on; renewals end there.
  bool guarded = true;
  AnyObserver observer = {};  // Told when it is lost.
};

// A lease as its keeper knows it. The keeper's mutex guards what follows the atomics.
struct Held {
  Token token{.gate = "-"};  // These do not change while the lease is held.
  Slot slot;
  Terms terms;
  Instant hold_end{0};
  Instant store_end{0};  // When the store ends it, at the earliest. For airlock-keep.

  std::atomic<Instant> deadline{Instant{0}};
  std::atomic<bool> is_lost = false;
  std::atomic<bool> is_ending = false;

  std::uint64_t serial = 0;  // Another one for every lease that uses this object.
  std::optional<std::stop_source> lost;
  bool watched = false;
  bool told = false;  // Whoever wanted to know has been told, or will be, that it is lost.
  Lane* lane = nullptr;
  Timer renewal;
  Timer alarm;  // Only where somebody asked for lost().
  Held* next_free = nullptr;

  // A renewal beyond the end of max_hold is none.
  [[nodiscard]] bool is_renewable() const noexcept { return store_end < hold_end; }

  // A third of the ttl, and up to a tenth of that earlier, so that leases that began together do not
  // stay together. The visitor is as random as anything.
  [[nodiscard]] Duration renew_after(Duration ttl) const noexcept {
    const Duration third = ttl / 3;
    return third - third / 10 * static_cast<std::int64_t>(token.visitor.low % 256) / 256;
  }
};

// The leases at one server, and the thread `airlock-keep` that renews them. The keeper's mutex guards it.
struct Lane {
  Lane(const char* name, Clock& clock, const std::function<void(Lane&)>& work)
      : worker(name, clock, [this, work] { work(*this); }) {}

  std::uint64_t server = 0;
  Timers<Held, &Held::renewal> renewals;
  std::size_t renewing = 0;  // Leases in the call that is being made.
  Worker worker;
};

// Looks after the leases that this process has from one store: renews them, says when they are
// lost, gives back what nobody waits for.
//
// Its threads are started when they are first needed. `airlock-keep` renews, one per server: a server
// that does not answer delays no renewal at another. `airlock-release` gives back, `airlock-alarm`
// fires lost() on time, whatever the store does, and tells observers.
class Keeper : public std::enable_shared_from_this<Keeper> {
 public:
  // The one of this store in this process. It lives as long as the handle that open_store() made, its
  // copies, and whatever was made with them: a caller that has a store pays for no thread twice.
  [[nodiscard]] static std::shared_ptr<Keeper> of(const std::shared_ptr<Backend>& store);

  // What a handle has: the store, and with it the keeper.
  [[nodiscard]] static std::shared_ptr<Backend> pin(std::shared_ptr<Backend> store) noexcept;

  explicit Keeper(std::shared_ptr<Backend> store);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Sends the releases that are queued, for at most a second.
  ~Keeper();

  [[nodiscard]] Backend& store() const noexcept { return *store_; }
  [[nodiscard]] const std::shared_ptr<Backend>& shared_store() const noexcept { return store_; }
  [[nodiscard]] Clock& clock() const noexcept { return store_->clock(); }
  [[nodiscard]] bool is_own() const noexcept;  // Not inherited through fork().

  // Takes charge of an admission; `sent` is a moment before the question left. StoreError (no_room)
  // if no thread can be started that would renew it: then it is still the caller's.
  [[nodiscard]] Lease keep(const Granted& granted, Instant sent, const Terms& terms);

  // For Lease. StoreError (no_room) if no thread can be started that would fire it.
  [[nodiscard]] std::stop_token lost(Held& held);
  // end() before the release: the lease is no longer renewed, and its loss is not reported. forget()
  // after the release, or once that is queued.
  static void end(Held& held) noexcept { held.is_ending = true; }
  void forget(Held* held) noexcept;
  void release_later(const Token& token, Instant until) noexcept;  // Releases it in the background.

  // Who waits without a thread (async_entries.hpp).
  [[nodiscard]] AsyncEntries& async_entries();

  // What ends the work of this process at the store (Store::close).
  static void close(const std::shared_ptr<Backend>& store);
  [[nodiscard]] std::stop_token closing() const noexcept { return closing_.get_token(); }
  [[nodiscard]] bool is_closing() const noexcept { return closing_.stop_requested(); }
  [[nodiscard]] bool drain(Duration at_most);
  [[nodiscard]] bool flush(Duration at_most);

 private:
  struct Renewing;
  struct Loss {  // To be told.
    std::optional<std::stop_source> lost;
    AnyObserver observer;
    GateName gate;
  };

  void stop_async_entries() noexcept;
  [[nodiscard]] Held* new_held() AIRLOCK_REQUIRES(mutex_);
  struct Enlisted {
    Held& held;
    Lane& lane;       // Where it is renewed first.
    bool needs_care;  // It is renewed, or somebody is to be told when it ends.
  };
  [[nodiscard]] Enlisted enlist(const Granted& granted, Instant sent, const Terms& terms);
  [[nodiscard]] std::uint64_t server_of(const GateName& gate) const noexcept;
  [[nodiscard]] Lane& lane_of(std::uint64_t server) AIRLOCK_REQUIRES(mutex_);
  void move(Held& held, std::uint64_t server) noexcept AIRLOCK_REQUIRES(mutex_);
  void unwatch(const Token& token) noexcept;
  void set_lost(Held& held) AIRLOCK_REQUIRES(mutex_);  // The caller wakes airlock-alarm.
  [[nodiscard]] bool has_losses();
  void check_soon(Held& held, std::uint64_t serial);

  void keep_all(Lane& lane);  // airlock-keep; renewals.cpp
  [[nodiscard]] Instant next_work(const Lane& lane) AIRLOCK_REQUIRES(mutex_);
  void collect_due(Lane& lane, Renewing& due, Instant now) AIRLOCK_REQUIRES(mutex_);
  bool retire(Held& held, Instant now) AIRLOCK_REQUIRES(mutex_);
  void renew(Lane& lane, Renewing& due);
  void note_renewal(Held& held, const RenewItem& item, Instant sent) AIRLOCK_REQUIRES(mutex_);

  void send_releases();  // airlock-release
  void sound_alarms();   // airlock-alarm

  [[nodiscard]] bool is_all_given_back() const AIRLOCK_REQUIRES(mutex_);
  template <typename Over>
  [[nodiscard]] bool await(Duration at_most, Over over);

  const std::shared_ptr<Backend> store_;
  Servers* const servers_;  // Of the store; null: it has but one.
  const std::uint64_t generation_;

  base::Mutex mutex_;
  std::deque<Held> all_ AIRLOCK_GUARDED_BY(mutex_);
  Held* free_ AIRLOCK_GUARDED_BY(mutex_) = nullptr;
  std::size_t leases_ AIRLOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_serial_ AIRLOCK_GUARDED_BY(mutex_) = 0;
  Timers<Held, &Held::alarm> alarms_ AIRLOCK_GUARDED_BY(mutex_);
  std::vector<Loss> losses_ AIRLOCK_GUARDED_BY(mutex_);  // For airlock-alarm.
  ReleaseQueue releases_;

  std::stop_source closing_;
  const std::shared_ptr<Awaiting> awaiting_ = std::make_shared<Awaiting>();

  std::shared_ptr<AsyncEntries> async_entries_;
  std::deque<Lane> lanes_;
  Worker release_;
  Worker alarm_;
};

}  // namespace airlock::internal
