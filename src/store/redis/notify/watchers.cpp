#include "store/redis/notify/watchers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/locks.hpp"

namespace airlock::redis {

bool Watchers::expect(const std::string& key, Duration patience) {
  const base::LockGuard lock(mutex_);
  if (!listening_) return false;
  Watcher& watcher = watchers_[key];
  watcher.has_news = false;
  watcher.expected_until =
      Clock::now() + std::min<Duration>(patience, std::chrono::hours(24 * 365));
  note_size();
  return true;
}

Watchers::Known Watchers::watch_expected(const std::string& key, std::function<void()>& changed) {
  const base::LockGuard lock(mutex_);
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
  const base::LockGuard lock(mutex_);
  watchers_[key].changed.swap(changed);
  note_size();
}

void Watchers::remove(const std::string& key) {
  std::function<void()> unused;  // May own anything: destroyed unlocked.
  const base::LockGuard lock(mutex_);
  if (const auto found = watchers_.find(key); found != watchers_.end()) {
    unused.swap(found->second.changed);
    watchers_.erase(found);
    note_size();
  }
  runner_.wait(mutex_, key);
}

void Watchers::tell(const std::string& key) { finish(key, true); }

void Watchers::tell_own(const std::string& key) {
  if (!is_empty()) finish(key, false);
}

void Watchers::finish(const std::string& key, bool keep_news) {
  const base::LockGuard lock(mutex_);
  const auto found = watchers_.find(key);
  if (found == watchers_.end()) return;
  if (!found->second.changed && keep_news) {
    found->second.has_news = true;
    return;
  }
  std::function<void()> changed = std::move(found->second.changed);
  watchers_.erase(found);
  note_size();
  if (changed) runner_.run(mutex_, key, changed);
}

void Watchers::tell_all() {
  const base::LockGuard lock(mutex_);
  listening_ = false;
  std::vector<std::pair<std::string, std::function<void()>>> due;
  for (auto& [key, watcher] : watchers_) {
    if (watcher.changed) due.emplace_back(key, std::move(watcher.changed));
  }
  watchers_.clear();
  note_size();
  for (auto& [key, changed] : due) runner_.run(mutex_, key, changed);
}

void Watchers::listen() {
  const base::LockGuard lock(mutex_);
  listening_ = true;
}

bool Watchers::is_listening() {
  const base::LockGuard lock(mutex_);
  return listening_;
}

bool Watchers::has_any() {
  const base::LockGuard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(watchers_, [&](const auto& entry) {
    return !entry.second.changed && entry.second.expected_until < now;
  });
  note_size();
  return !watchers_.empty();
}

}  // namespace airlock::redis
