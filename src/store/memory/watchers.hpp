#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "model/shard.hpp"

namespace airlock::memory {

// The callbacks of one shard, each for one visit, each called at most once. All members but
// call_due() are used under the shard's mutex.
class Watchers final : public model::Listener {
 public:
  // Replaces what was there.
  void add(model::Ref visit, const VisitorId& visitor, std::function<void()> changed);

  // Takes the callback back, or waits until it has run; not for itself.
  void remove(model::Ref visit, const VisitorId& visitor, std::unique_lock<std::mutex>& lock);

  void changed(model::Ref ref, const model::Visit& visit) noexcept override;
  [[nodiscard]] bool any_due() const noexcept { return due_ != nullptr; }
  [[nodiscard]] bool reachable(const model::Visit& /*visit*/) noexcept override { return true; }

  // Calls those that are due, unlocked; leaves the lock locked.
  void call_due(std::unique_lock<std::mutex>& lock) noexcept;

 private:
  struct Watcher {
    VisitorId visitor;
    std::function<void()> changed;
    std::thread::id caller = {};
    Watcher* next = nullptr;
  };

  [[nodiscard]] const Watcher* running(const VisitorId& visitor) const noexcept;

  std::unordered_map<model::Ref, std::unique_ptr<Watcher>> waiting_;
  Watcher* due_ = nullptr;  // Owned; in the order of their change.
  Watcher** due_end_ = &due_;
  Watcher* running_ = nullptr;  // Owned by the thread that calls them.
  std::condition_variable ran_;
};

}  // namespace airlock::memory
