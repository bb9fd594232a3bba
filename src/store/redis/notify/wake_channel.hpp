#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/locks.hpp"
#include "store/redis/notify/watchers.hpp"
#include "store/redis/slot.hpp"

namespace airlock::redis {

struct Node;

// A channel of this process and those in it who are to be told what is said there. The gates of a
// cluster's slot have one of their own, because only the server of that slot says it; all others
// share one.
class WakeChannel {
 public:
  WakeChannel(std::string its_name, HashSlot of, bool is_sharded)
      : name(std::move(its_name)), slot(of), sharded(is_sharded) {}

  const std::string name;
  const HashSlot slot;
  const bool sharded;  // SSUBSCRIBE rather than SUBSCRIBE.
  Watchers watchers;

  // Where it was last said that this process listens; the slot may have moved since then.
  void set_node(const std::shared_ptr<Node>& node) {
    const base::LockGuard lock(mutex_);
    node_ = node;
  }
  [[nodiscard]] std::shared_ptr<Node> node() const {
    const base::LockGuard lock(mutex_);
    return node_.lock();
  }

 private:
  mutable base::StdMutex mutex_;
  std::weak_ptr<Node> node_ AIRLOCK_GUARDED_BY(mutex_);
};

}  // namespace airlock::redis
