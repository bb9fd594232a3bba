#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "airlock/name.hpp"
#include "airlock/token.hpp"

namespace airlock::shm {

// The callbacks of this process, each for one visitor at one gate, each called at most once. Every
// one has a number, by which other processes refer to it. Safe to use from any thread.
class Watches {
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
  struct Watch {
    Key key;
    std::function<void()> changed;
  };
  struct Running {
    Key key;
    std::thread::id caller;
    Running* next;
  };

  [[nodiscard]] bool runs_elsewhere(const Key& key) const noexcept;

  std::mutex mutex_;
  std::condition_variable ran_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<Watch> watches_;  // By number; the function is empty where there is none.
  std::vector<std::uint32_t> unused_;
  Running* running_ = nullptr;
};

}  // namespace airlock::shm
