#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "airlock/name.hpp"
#include "airlock/token.hpp"
#include "store/callback_runner.hpp"

namespace airlock::shm {

// The callbacks of this process, each for one visitor at one gate, each called at most once. Every
// one has a number, by which other processes refer to it. Safe to use from any thread.
class Watchers {
 public:
  // `changed` takes the place of what was there and is that afterwards, to be destroyed by the caller
  // when it holds no lock.
  [[nodiscard]] std::uint32_t add(const GateName& gate, const VisitorId& visitor,
                                  std::function<void()>& changed);

  // Takes it back, or waits until it has run; not for itself.
  void remove(const GateName& gate, const VisitorId& visitor);

  // Calls it, if it is still there.
  void call(std::uint32_t number) noexcept;
  void call_all() noexcept;

 private:
  using Key = std::pair<VisitorId, std::string>;
  struct Watcher {
    Key key;
    std::function<void()> changed;
  };

  [[nodiscard]] std::size_t size();

  base::Mutex mutex_;
  internal::CallbackRunner<Key> runner_ AIRLOCK_GUARDED_BY(mutex_);
  std::map<Key, std::uint32_t> numbers_ AIRLOCK_GUARDED_BY(mutex_);
  // By number; the function is empty where there is none.
  std::vector<Watcher> watchers_ AIRLOCK_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> unused_ AIRLOCK_GUARDED_BY(mutex_);
};

}  // namespace airlock::shm
