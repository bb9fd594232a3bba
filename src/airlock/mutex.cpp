#include "airlock/mutex.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "airlock/entrance.hpp"
#include "base/per_process.hpp"

namespace airlock {
namespace {

std::shared_ptr<keeping::Entrance> entrance(std::shared_ptr<Store> store, std::uint32_t limit,
                                            const MutexOptions& options) {
  const AirlockOptions rules{.limit = limit,
                             .ttl = options.ttl,
                             .max_wait = kForever,
                             .max_hold = options.max_hold,
                             .exclusive = true,
                             .observer = options.observer};
  return std::make_shared<keeping::Entrance>(std::move(store), rules);
}

}  // namespace

class Mutex::Impl {
 public:
  // What a forked child must not share: its own leases, its own lock on them.
  struct Held {
    std::mutex mutex;  // Never held while waiting.
    Lease exclusive;
    std::vector<Lease> shared;  // All alike: whoever unlocks gives any of them back.
  };

  Impl(std::shared_ptr<Store> store, const GateName& at, const MutexOptions& options)
      : entrance_(entrance(std::move(store), options.readers, options)),
        gate_(at),
        readers_(options.readers) {}

  [[nodiscard]] Held& held() {
    return *held_.get([] { return std::make_unique<Held>(); });
  }

  [[nodiscard]] Outcome<Lease> enter(bool alone, Duration max_wait) {
    return entrance_->enter(gate_, {.max_wait = max_wait, .weight = alone ? readers_ : 1});
  }

 private:
  std::shared_ptr<keeping::Entrance> entrance_;
  GateName gate_;
  std::uint32_t readers_;
  base::PerProcess<std::unique_ptr<Held>> held_;
};

Mutex::Mutex(std::shared_ptr<Store> store, const GateName& gate, const MutexOptions& options)
    : impl_(std::make_unique<Impl>(std::move(store), gate, options)) {}

Mutex::~Mutex() = default;

bool Mutex::enter(Kind kind, Duration max_wait) {
  Outcome<Lease> lease = impl_->enter(kind == Kind::exclusive, max_wait);
  if (!lease) return false;
  Impl::Held& held = impl_->held();
  const std::lock_guard lock(held.mutex);
  if (kind == Kind::exclusive) {
    held.exclusive = std::move(*lease);
  } else {
    held.shared.push_back(std::move(*lease));
  }
  return true;
}

void Mutex::lock() { enter(Kind::exclusive, kForever); }
bool Mutex::try_lock() { return enter(Kind::exclusive, Duration(0)); }

void Mutex::unlock() noexcept {
  Lease lease;
  Impl::Held& held = impl_->held();
  const std::lock_guard lock(held.mutex);
  lease = std::move(held.exclusive);
}

void Mutex::lock_shared() { enter(Kind::shared, kForever); }
bool Mutex::try_lock_shared() { return enter(Kind::shared, Duration(0)); }

void Mutex::unlock_shared() noexcept {
  Lease lease;
  Impl::Held& held = impl_->held();
  const std::lock_guard lock(held.mutex);
  if (held.shared.empty()) return;  // Locked before a fork: the parent's.
  lease = std::move(held.shared.back());
  held.shared.pop_back();
}

Fence Mutex::fence() const {
  Impl::Held& held = impl_->held();
  const std::lock_guard lock(held.mutex);
  return held.exclusive ? held.exclusive.fence() : 0;
}

bool Mutex::valid() const {
  Impl::Held& held = impl_->held();
  const std::lock_guard lock(held.mutex);
  return held.exclusive.valid();
}

std::stop_token Mutex::lost() const {
  Impl::Held& held = impl_->held();
  const std::lock_guard lock(held.mutex);
  return held.exclusive.lost();
}

KeyedLock::KeyedLock(std::shared_ptr<Store> store, std::string_view prefix,
                     const MutexOptions& options)
    : entrance_(entrance(std::move(store), 1, options)), prefix_(prefix) {
  (void)gate("");
}
KeyedLock::KeyedLock(const KeyedLock&) = default;
KeyedLock& KeyedLock::operator=(const KeyedLock&) = default;
KeyedLock::~KeyedLock() = default;

Lease KeyedLock::lock(std::string_view key) const {
  return std::move(*entrance_->enter(gate(key), {}));
}

Outcome<Lease> KeyedLock::try_lock(std::string_view key, Ask ask) const {
  ask.max_wait = ask.max_wait.value_or(Duration(0));
  return entrance_->enter(gate(key), ask);
}

}  // namespace airlock
