#include "airlock/mutex.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "admission/admission_client.hpp"
#include "airlock/bulkhead.hpp"
#include "base/locks.hpp"
#include "base/per_process.hpp"
#include "base/quote.hpp"

namespace airlock {
namespace {

std::shared_ptr<internal::AdmissionClient> client(const Store& store, std::uint32_t limit,
                                                  const MutexOptions& options) {
  const AirlockOptions rules{.limit = limit,
                             .ttl = options.ttl,
                             .max_wait = kForever,
                             .max_hold = options.max_hold,
                             .exclusive = true,
                             .observer = options.observer};
  return std::make_shared<internal::AdmissionClient>(store, rules);
}

constinit std::atomic<std::uint64_t> g_foreign_unlocks{0};
constinit std::atomic<std::uint64_t> g_threads{0};

// A number that no other thread of this process has had, unlike its id.
std::uint64_t this_thread() noexcept {
  thread_local std::uint64_t number = ++g_threads;
  return number;
}

}  // namespace

class Mutex::Impl {
 public:
  Impl(const Store& store, const GateName& at, const MutexOptions& options)
      : client_(client(store, options.readers, options)), gate_(at), readers_(options.readers) {}

  [[nodiscard]] Outcome<Lease> enter(Kind kind, Duration max_wait) {
    check_not_locked();
    const std::uint32_t weight = kind == Kind::exclusive ? readers_ : 1;
    return client_->enter(gate_, {.weight = weight}, max_wait);
  }

  void keep(Kind kind, Lease lease) {
    Held& held = this->held();
    const base::LockGuard lock(held.mutex);
    held.leases.emplace(this_thread(), Locked{kind, std::move(lease)});
  }

  // What the calling thread has locked in that way, and has no more. False: nothing.
  [[nodiscard]] bool give_back(Kind kind) {
    decltype(Held::leases)::node_type locked;  // Given back unlocked.
    Held& held = this->held();
    const base::LockGuard lock(held.mutex);
    const auto found = held.leases.find(this_thread());
    if (found == held.leases.end() || found->second.kind != kind) return false;
    locked = held.leases.extract(found);
    return true;
  }

  // Of the calling thread, which alone ends it; null: it has none.
  [[nodiscard]] const Lease* lease() {
    Held& held = this->held();
    const base::LockGuard lock(held.mutex);
    const auto found = held.leases.find(this_thread());
    return found == held.leases.end() ? nullptr : &found->second.lease;
  }

  [[noreturn]] void throw_refused(const Refused& refused) const {
    throw BulkheadFullError(gate_, readers_, refused);
  }

 private:
  struct Locked {
    Kind kind;
    Lease lease;
  };

  // What a forked child must not share: its own leases, its own lock on them.
  struct Held {
    base::StdMutex mutex;  // Never held while waiting.
    std::unordered_map<std::uint64_t, Locked> leases AIRLOCK_GUARDED_BY(mutex);  // By thread.
  };

  [[nodiscard]] Held& held() {
    return *held_.get([] { return std::make_unique<Held>(); });
  }

  void check_not_locked() {
    if (lease() == nullptr) return;
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "gate " + base::quoted(gate_.view()) +
                                ": this thread has it locked already; unlock it first");
  }

  std::shared_ptr<internal::AdmissionClient> client_;
  GateName gate_;
  std::uint32_t readers_;
  base::PerProcess<std::unique_ptr<Held>> held_;
};

Mutex::Mutex(const Store& store, const GateName& gate, const MutexOptions& options)
    : impl_(std::make_unique<Impl>(store, gate, options)) {}

Mutex::~Mutex() = default;

void Mutex::enter(Kind kind) {
  Outcome<Lease> lease = impl_->enter(kind, kForever);
  if (!lease) impl_->throw_refused(lease.error());
  impl_->keep(kind, std::move(*lease));
}

bool Mutex::try_enter(Kind kind, Duration max_wait) {
  Outcome<Lease> lease = impl_->enter(kind, max_wait);
  if (!lease) return false;
  impl_->keep(kind, std::move(*lease));
  return true;
}

void Mutex::leave(Kind kind) noexcept {
  if (!impl_->give_back(kind)) ++g_foreign_unlocks;
}

void Mutex::lock() { enter(Kind::exclusive); }
bool Mutex::try_lock() { return try_enter(Kind::exclusive, Duration(0)); }
void Mutex::unlock() noexcept { leave(Kind::exclusive); }

void Mutex::lock_shared() { enter(Kind::shared); }
bool Mutex::try_lock_shared() { return try_enter(Kind::shared, Duration(0)); }
void Mutex::unlock_shared() noexcept { leave(Kind::shared); }

Fence Mutex::fence() const {
  const Lease* const lease = impl_->lease();
  return lease == nullptr ? 0 : lease->fence();
}

bool Mutex::valid() const {
  const Lease* const lease = impl_->lease();
  return lease != nullptr && lease->valid();
}

std::stop_token Mutex::lost() const {
  const Lease* const lease = impl_->lease();
  return lease == nullptr ? std::stop_token() : lease->lost();
}

std::uint64_t foreign_unlocks() noexcept { return g_foreign_unlocks; }

KeyedLock::KeyedLock(const Store& store, std::string_view prefix, const MutexOptions& options)
    : client_(client(store, 1, options)), prefix_(prefix) {
  (void)gate("");
}
KeyedLock::KeyedLock(const KeyedLock&) = default;
KeyedLock& KeyedLock::operator=(const KeyedLock&) = default;
KeyedLock::~KeyedLock() = default;

Lease KeyedLock::lock(std::string_view key, const Ask& ask) const {
  const GateName name = gate(key);
  Outcome<Lease> lease = client_->enter(name, ask);
  if (!lease) throw BulkheadFullError(name, 1, lease.error());
  return std::move(*lease);
}

Outcome<Lease> KeyedLock::try_lock(std::string_view key, const Ask& ask) const {
  return client_->try_enter(gate(key), ask);
}

Outcome<Lease> KeyedLock::try_lock_for(std::string_view key, AnyDuration max_wait,
                                       const Ask& ask) const {
  return client_->enter(gate(key), ask, max_wait);
}

}  // namespace airlock
