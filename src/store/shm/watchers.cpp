#include "store/shm/watchers.hpp"

#include "base/locks.hpp"

namespace airlock::shm {

std::uint32_t Watchers::add(const GateName& gate, const VisitorId& visitor,
                            std::function<void()>& changed) {
  Key key(visitor, gate.text());
  const base::LockGuard lock(mutex_);
  const auto [at, is_new] = numbers_.try_emplace(key, 0);
  if (is_new) {
    if (unused_.empty()) {
      // Room for all, so that call() never fails.
      if (unused_.capacity() <= watchers_.size()) unused_.reserve(2 * watchers_.size() + 1);
      unused_.push_back(static_cast<std::uint32_t>(watchers_.size()));
      watchers_.emplace_back();
    }
    at->second = unused_.back();
    unused_.pop_back();
    watchers_[at->second].key = std::move(key);
  }
  std::swap(watchers_[at->second].changed, changed);
  return at->second;
}

void Watchers::remove(const GateName& gate, const VisitorId& visitor) {
  const Key key(visitor, gate.text());
  std::function<void()> unused;  // Destroyed unlocked.
  const base::LockGuard lock(mutex_);
  const auto at = numbers_.find(key);
  if (at != numbers_.end()) {
    std::swap(unused, watchers_[at->second].changed);
    unused_.push_back(at->second);
    numbers_.erase(at);
  }
  runner_.wait(mutex_, key);
}

void Watchers::call(std::uint32_t number) noexcept {
  const base::LockGuard lock(mutex_);
  if (number >= watchers_.size() || !watchers_[number].changed) return;
  std::function<void()> changed = std::exchange(watchers_[number].changed, nullptr);
  const Key key = std::move(watchers_[number].key);
  numbers_.erase(key);
  unused_.push_back(number);
  runner_.run(mutex_, key, changed);
}

void Watchers::call_all() noexcept {
  const std::size_t count = size();
  for (std::uint32_t number = 0; number < count; ++number) call(number);
}

std::size_t Watchers::size() {
  const base::LockGuard lock(mutex_);
  return watchers_.size();
}

}  // namespace airlock::shm
