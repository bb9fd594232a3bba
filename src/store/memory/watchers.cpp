#include "store/memory/watchers.hpp"

#include <utility>

namespace airlock::memory {

void Watchers::add(model::Ref visit, Key key, std::function<void()>& changed) {
  if (visit >= watchers_.size()) watchers_.resize(visit + 1);
  const std::size_t needed = due_.size() + watching_ + 1;
  if (due_.capacity() < needed) due_.reserve(2 * needed);
  Watcher& watcher = watchers_[visit];
  watcher.key = std::move(key);
  if (!watcher.changed) ++watching_;
  std::swap(watcher.changed, changed);
}

std::function<void()> Watchers::remove(model::Ref visit, const KeyView& key, base::Mutex& mutex) {
  std::function<void()> changed;
  if (visit < watchers_.size() && watchers_[visit].changed) {
    changed = std::move(watchers_[visit].changed);
    forget(visit);
  }
  for (std::size_t i = next_due_; i < due_.size(); ++i) {
    if (!(due_[i].key == key) || !due_[i].changed) continue;
    std::function<void()> due = std::exchange(due_[i].changed, nullptr);
    if (!changed) {
      changed = std::move(due);
    } else {  // Both are destroyed together.
      changed = [first = std::move(changed), second = std::move(due)] {};
    }
  }
  runner_.wait(mutex, key);
  return changed;
}

void Watchers::changed(model::Ref ref, model::Visit& /*visit*/) noexcept {
  if (watching_ == 0 || ref >= watchers_.size() || !watchers_[ref].changed) return;
  due_.push_back(std::move(watchers_[ref]));
  forget(ref);
}

void Watchers::forget(model::Ref visit) noexcept {
  constexpr std::size_t kKept = 1024;
  watchers_[visit].changed = nullptr;
  if (--watching_ == 0 && watchers_.size() > kKept) watchers_ = {};  // Nothing is left behind.
}

void Watchers::call_due(base::Mutex& mutex) noexcept {
  while (any_due()) {
    Watcher due = std::move(due_[next_due_++]);
    if (next_due_ == due_.size()) {
      due_.clear();
      next_due_ = 0;
    }
    if (due.changed) runner_.run(mutex, due.key, due.changed);  // Else somebody has taken it back.
  }
}

}  // namespace airlock::memory
