#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "store/redis/pool.hpp"
#include "store/redis/watchers.hpp"

namespace airlock::redis {

// The one connection of a process on which it hears that something has changed, and the thread
// `airlock-redis` that listens there. Both exist only while somebody is to be told.
class Subscription {
 public:
  Subscription(Pool& pool, std::string channel, Duration timeout);
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  ~Subscription();

  // The thread keeps `owner`, which this is a part of, alive until stop(); that may come from one of
  // its own callbacks.
  void set_owner(std::weak_ptr<void> owner) noexcept { owner_ = std::move(owner); }
  void stop() noexcept;

  // For tests: whether a message arrives. Empty: all do.
  void set_hearing(std::function<bool()> hears) { hears_ = std::move(hears); }

  [[nodiscard]] const std::string& channel() const noexcept { return channel_; }
  [[nodiscard]] Watchers& watchers() noexcept { return watchers_; }

  // Returns when the server has confirmed that this process hears everything said from now on.
  // False: it cannot be had now.
  [[nodiscard]] bool confirm(const Deadline& deadline);

  // Returns when everything said before has been told. For tests.
  void flush(const Deadline& deadline);

 private:
  enum class State { idle, connecting, listening };

  void start();
  void run();
  void listen_once(std::unique_lock<std::mutex>& lock);
  void listen(Connection& connection);
  void handle(const Reply& message);
  // Whether the connection has something to read.
  [[nodiscard]] bool wait_for_events(const Connection& connection,
                                     std::chrono::milliseconds at_most) const;
  [[nodiscard]] bool is_stopping();
  void set(State state);
  void wake() const noexcept;

  Pool& pool_;
  const std::string channel_;
  const Duration timeout_;
  Watchers watchers_;
  std::function<bool()> hears_;

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::idle;
  std::uint64_t attempts_ = 0;  // Failed ones.
  std::uint64_t flushes_ = 0;
  bool wanted_ = false;
  bool stopping_ = false;
  int wake_fd_ = -1;
  std::weak_ptr<void> owner_;
  std::thread thread_;
};

}  // namespace airlock::redis
