#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "store/redis/event_fd.hpp"
#include "store/redis/pool.hpp"
#include "store/redis/sentinels.hpp"
#include "store/redis/wake_channel.hpp"
#include "store/sleeper.hpp"

namespace airlock::redis {

// The one connection to a server on which a process hears that something has changed, and the thread
// `airlock-redis` that listens there. Both exist only while somebody is to be told. A thread that
// sleeps and is the only one to be told listens in the place of that thread: nobody has to wake it
// but the server.
class Subscription {
 public:
  struct Options {
    Duration timeout;
    std::function<bool()> hears = {};  // For tests: whether a message arrives; empty: all do.
    std::shared_ptr<const Sentinels> sentinels = {};  // Who say that another server has its place.
  };

  Subscription(Pool& pool, Options options);
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // The thread keeps `owner`, which this is a part of, alive until stop(); that may come from one of
  // its own callbacks.
  void set_owner(std::weak_ptr<void> owner) noexcept { owner_ = std::move(owner); }
  void stop() noexcept;
  void retire() noexcept;  // The same, and nobody waits for it.

  // Returns when the server has confirmed that this process hears everything said there from now on.
  // False: it cannot be had now.
  [[nodiscard]] bool confirm(const std::shared_ptr<WakeChannel>& target, const Deadline& deadline);

  // There is a callback to call: from now on the thread reads.
  void attend();

  // The calling thread sleeps until it is woken, by who reads what `channel` is told or by somebody else,
  // or until the deadline. Returns whether it was woken with news.
  [[nodiscard]] bool sleep(const WakeChannel& channel, Sleeper& sleeper, Clock& clock,
                           Instant deadline);

  // Whether the server knows channels that belong to a slot (Redis 7); true until it says no.
  [[nodiscard]] bool can_shard() const noexcept { return can_shard_; }

  // Returns when everything said there before has been told. For tests.
  void flush(const WakeChannel& channel, const Deadline& deadline);

 private:
  struct Channel {
    enum class State { wanted, asked, listening, over };
    std::shared_ptr<WakeChannel> target;
    State state = State::wanted;
    Deadline::Clock::time_point last_needed = Deadline::Clock::now();
  };
  using ChannelPtr = std::shared_ptr<Channel>;

  void start();
  void run();
  void listen_once(std::unique_lock<std::mutex>& lock);
  void listen(Connection& connection);
  void check_heartbeat(Connection& connection);
  void subscribe(Connection& connection);
  void receive(Connection& connection);
  void handle(const Reply& message);
  void handle_error(std::string_view error);
  void tell(WakeChannel& channel, const std::string& payload);
  void end_idle(Connection& connection);
  void watch_primary();
  void end(const ChannelPtr& channel);
  void set(Channel& channel, Channel::State state);
  [[nodiscard]] ChannelPtr find(std::string_view name);
  // Whether the connection has something to read.
  [[nodiscard]] bool wait_for_events(const Connection& connection,
                                     std::chrono::milliseconds at_most);
  [[nodiscard]] bool is_needed();
  void tell_to_stop() noexcept;

  [[nodiscard]] bool is_idle() const noexcept;
  [[nodiscard]] bool is_only_one_to_tell(const WakeChannel& channel) const noexcept;
  [[nodiscard]] bool is_for_thread_to_read();
  void call_thread() const noexcept;
  [[nodiscard]] Connection* take_over(const WakeChannel& channel);
  void read_until(const std::atomic<bool>& woken, Connection& connection, Clock& clock,
                  Instant deadline) noexcept;
  void hand_back() noexcept;
  void await_hand_back(std::unique_lock<std::mutex>& lock);

  Pool& pool_;
  const Options options_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, ChannelPtr, std::less<>> channels_;
  // Where nobody is to be told nobody reads, and the thread looks once a second.
  enum class Reader { nobody, thread, sleeper };
  Reader reader_ = Reader::nobody;
  Connection* connection_ = nullptr;  // For who takes over.
  bool stopping_ = false;
  std::uint64_t flushes_ = 0;
  const EventFd thread_event_;
  const EventFd sleeper_event_;  // Of who has taken over.

  std::mutex exchanging_;         // Of who sends or receives there. It has what follows:
  std::deque<ChannelPtr> asked_;  // in the order of the answers to come,
  Deadline::Clock::time_point last_heard_{};
  bool pinged_ = false;  // Since then.

  std::unique_ptr<Connection> sentinel_;  // Of the thread alone.
  Deadline::Clock::time_point next_sentinel_{};
  std::atomic<bool> can_shard_ = true;
  std::weak_ptr<void> owner_;
  std::thread thread_;
};

}  // namespace airlock::redis
