#include "store/redis/notify/watchers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace airlock::redis {

bool Watchers::expect(const std::string& key, Duration patience) {
  const std::lock_guard lock(mutex_);
  if (!listening_) return false;
  Watcher& watcher = watchers_[key];
  watcher.has_news = false;
  watcher.expected_until =
      Clock::now() + std::min<Duration>(patience, std::chrono::hours(24 * 365));
  note_size();
  return true;
}

Watchers::Known Watchers::watch_expected(const std::string& key, std::function<void()>& changed) {
  const std::lock_guard lock(mutex_);
  const auto found = watchers_.find(key);
  if (!listening_ || found == watchers_.end()) return Known::unknown;
  if (found->second.has_news) {
    watchers_.erase(found);
    note_size();
    return Known::news;
  }
  if (found->second.expected_until == Clock::time_point{}) return Known::unknown;
  found->second.changed.swap(changed);
  return Known::watching;
}

void Watchers::add(const std::string& key, std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  watchers_[key].changed.swap(changed);
  note_size();
}

void Watchers::remove(const std::string& key) {
  std::function<void()> unused;  // May own anything: destroyed unlocked.
  std::unique_lock lock(mutex_);
  if (const auto found = watchers_.find(key); found != watchers_.end()) {
    unused.swap(found->second.changed);
    watchers_.erase(found);
    note_size();
  }
  ran_.wait(lock, [&] { return !runs_elsewhere(key); });
}

bool Watchers::runs_elsewhere(const std::string& key) const noexcept {
  for (const Running* at = running_; at != nullptr; at = at->next) {
    if (at->key == key) return at->caller != std::this_thread::get_id();
  }
  return false;
}

void Watchers::tell(const std::string& key) { finish(key, true); }

void Watchers::tell_own(const std::string& key) {
  if (!is_empty()) finish(key, false);
}

void Watchers::finish(const std::string& key, bool keep_news) {
  std::unique_lock lock(mutex_);
  const auto found = watchers_.find(key);
  if (found == watchers_.end()) return;
  if (!found->second.changed && keep_news) {
    found->second.has_news = true;
    return;
  }
  std::function<void()> changed = std::move(found->second.changed);
  watchers_.erase(found);
  note_size();
  if (changed) call(key, std::move(changed), lock);
}

void Watchers::call(const std::string& key, std::function<void()> changed,
                    std::unique_lock<std::mutex>& lock) noexcept {
  Running running{key, std::this_thread::get_id(), running_};
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

void Watchers::tell_all() {
  std::unique_lock lock(mutex_);
  listening_ = false;
  std::vector<std::pair<std::string, std::function<void()>>> due;
  for (auto& [key, watcher] : watchers_) {
    if (watcher.changed) due.emplace_back(key, std::move(watcher.changed));
  }
  watchers_.clear();
  note_size();
  for (auto& [key, changed] : due) call(key, std::move(changed), lock);
}

void Watchers::listen() {
  const std::lock_guard lock(mutex_);
  listening_ = true;
}

bool Watchers::has_any() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(watchers_, [&](const auto& entry) {
    return !entry.second.changed && entry.second.expected_until < now;
  });
  note_size();
  return !watchers_.empty();
}

}  // namespace airlock::redis
