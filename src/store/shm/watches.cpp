#include "store/shm/watches.hpp"

namespace airlock::shm {

std::uint32_t Watches::add(const GateName& gate, const VisitorId& visitor,
                           std::function<void()>& changed) {
  Key key(visitor, gate.text());
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = numbers_.try_emplace(key, 0);
  if (is_new) {
    if (unused_.empty()) {
      // Room for all, so that call() never fails.
      if (unused_.capacity() <= watches_.size()) unused_.reserve(2 * watches_.size() + 1);
      unused_.push_back(static_cast<std::uint32_t>(watches_.size()));
      watches_.emplace_back();
    }
    at->second = unused_.back();
    unused_.pop_back();
    watches_[at->second].key = std::move(key);
  }
  std::swap(watches_[at->second].changed, changed);
  return at->second;
}

void Watches::remove(const GateName& gate, const VisitorId& visitor) {
  const Key key(visitor, gate.text());
  std::function<void()> unused;  // Destroyed unlocked.
  std::unique_lock lock(mutex_);
  const auto at = numbers_.find(key);
  if (at != numbers_.end()) {
    std::swap(unused, watches_[at->second].changed);
    unused_.push_back(at->second);
    numbers_.erase(at);
  }
  ran_.wait(lock, [&] { return !runs_elsewhere(key); });
  lock.unlock();
}

bool Watches::runs_elsewhere(const Key& key) const noexcept {
  for (const Running* at = running_; at != nullptr; at = at->next) {
    if (at->key == key) return at->caller != std::this_thread::get_id();
  }
  return false;
}

void Watches::call(std::uint32_t number) noexcept {
  std::unique_lock lock(mutex_);
  if (number >= watches_.size() || !watches_[number].changed) return;
  std::function<void()> changed = std::move(watches_[number].changed);
  watches_[number].changed = nullptr;
  Running running{std::move(watches_[number].key), std::this_thread::get_id(), running_};
  numbers_.erase(running.key);
  unused_.push_back(number);
  running_ = &running;
  lock.unlock();
  try {
    changed();
    changed = nullptr;
  } catch (...) {  // NOLINT(bugprone-empty-catch): the step it hears of is done
  }
  lock.lock();
  Running** place = &running_;
  while (*place != &running) place = &(*place)->next;
  *place = running.next;
  ran_.notify_all();
}

void Watches::call_all() noexcept {
  std::unique_lock lock(mutex_);
  const std::size_t count = watches_.size();
  lock.unlock();
  for (std::uint32_t number = 0; number < count; ++number) call(number);
}

}  // namespace airlock::shm
