#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "model/shard.hpp"
#include "store/callback_runner.hpp"

namespace airlock::memory {

// The callbacks of one shard, each for one visit, each called at most once. Used under the shard's mutex.
class Watchers final : public model::Listener {
 public:
  // Whose change it is. A visit's place is another's when the visit is gone, this is not.
  struct KeyView {
    std::string_view gate;
    const VisitorId& visitor;
  };
  struct Key {
    std::string gate;
    VisitorId visitor;

    friend bool operator==(const Key& key, const KeyView& other) noexcept {
      return key.visitor == other.visitor && key.gate == other.gate;
    }
  };

  // Takes the place of what was there; `changed` is that afterwards, to be destroyed unlocked.
  void add(model::Ref visit, Key key, std::function<void()>& changed);

  // Takes the callback back, or waits until it has run; not for itself. What is returned is to be
  // destroyed unlocked.
  [[nodiscard]] std::function<void()> remove(model::Ref visit, const KeyView& key,
                                             base::Mutex& mutex) AIRLOCK_REQUIRES(mutex);

  void changed(model::Ref ref, model::Visit& visit) noexcept override;
  [[nodiscard]] bool any_due() const noexcept { return !due_.empty(); }
  [[nodiscard]] bool reachable(const model::Visit& /*visit*/) noexcept override { return true; }

  // Calls those that are due; unlocks the mutex meanwhile.
  void call_due(base::Mutex& mutex) noexcept AIRLOCK_REQUIRES(mutex);

 private:
  struct Watcher {
    Key key;
    std::function<void()> changed;
  };

  void forget(model::Ref visit) noexcept;

  std::vector<Watcher> watchers_;  // By visit; the function is empty where nobody watches.
  std::size_t watching_ = 0;
  std::vector<Watcher> due_;  // In the order of their change; has room for all that watch.
  std::size_t next_due_ = 0;  // Those before are called already.
  internal::CallbackRunner<Key> runner_;
};

}  // namespace airlock::memory
