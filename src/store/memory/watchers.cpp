#include "store/memory/watchers.hpp"

#include <utility>

namespace airlock::memory {

void Watchers::add(model::Ref visit, const VisitorId& visitor, std::function<void()> changed) {
  waiting_[visit] = std::make_unique<Watcher>(Watcher{visitor, std::move(changed)});
}

void Watchers::remove(model::Ref visit, const VisitorId& visitor,
                      std::unique_lock<std::mutex>& lock) {
  if (visit != model::kNone) waiting_.erase(visit);
  ran_.wait(lock, [&] {
    const Watcher* watcher = running(visitor);
    return watcher == nullptr || watcher->caller == std::this_thread::get_id();
  });
}

void Watchers::changed(model::Ref ref, const model::Visit& /*visit*/) noexcept {
  if (waiting_.empty()) return;
  const auto found = waiting_.find(ref);
  if (found == waiting_.end()) return;
  *due_end_ = found->second.release();
  due_end_ = &(*due_end_)->next;
  waiting_.erase(found);
}

const Watchers::Watcher* Watchers::running(const VisitorId& visitor) const noexcept {
  for (const Watcher* watcher = running_; watcher != nullptr; watcher = watcher->next) {
    if (watcher->visitor == visitor) return watcher;
  }
  return nullptr;
}

void Watchers::call_due(std::unique_lock<std::mutex>& lock) noexcept {
  while (due_ != nullptr) {
    const std::unique_ptr<Watcher> watcher(due_);
    due_ = watcher->next;
    if (due_ == nullptr) due_end_ = &due_;
    watcher->caller = std::this_thread::get_id();
    watcher->next = std::exchange(running_, watcher.get());
    lock.unlock();
    try {
      watcher->changed();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the step it hears of is done
    }
    lock.lock();
    Watcher** place = &running_;
    while (*place != watcher.get()) place = &(*place)->next;
    *place = watcher->next;
    ran_.notify_all();
  }
}

}  // namespace airlock::memory
