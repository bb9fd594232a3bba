#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/locks.hpp"
#include "store/redis/notify/channel_table.hpp"
#include "store/redis/notify/message_stream.hpp"
#include "store/redis/notify/primary_watch.hpp"
#include "store/redis/notify/reader_role.hpp"
#include "store/redis/pool.hpp"
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
  void attend() AIRLOCK_EXCLUDES(mutex_);

  // The calling thread sleeps until a message of `channel` or another thread wakes it, or until the
  // deadline. Returns whether it was woken with news.
  [[nodiscard]] bool sleep(const WakeChannel& channel, Sleeper& sleeper, Clock& clock,
                           Instant deadline);

  // Whether the server knows channels that belong to a slot (Redis 7); true until it says no.
  [[nodiscard]] bool can_shard() const noexcept { return can_shard_; }

  // Returns when everything said there before has been told. For tests.
  void flush(const WakeChannel& channel, const Deadline& deadline);

 private:
  using ChannelPtr = ChannelTable::Ptr;
  using State = SubscribedChannel::State;

  // The thread.
  void start() AIRLOCK_REQUIRES(mutex_);
  void run();
  [[nodiscard]] bool listen_once() AIRLOCK_EXCLUDES(mutex_);  // Whether there was a connection.
  void listen(MessageStream& stream);
  void open_stream(MessageStream& stream) AIRLOCK_EXCLUDES(mutex_);
  // What was subscribed to.
  [[nodiscard]] std::vector<ChannelPtr> close_stream() AIRLOCK_EXCLUDES(mutex_);
  void subscribe(MessageStream& stream);
  void end_idle(MessageStream& stream) AIRLOCK_REQUIRES(exchanging_);
  void check_primary();
  // Whether the stream has something for the thread to read.
  [[nodiscard]] bool wait_for_events(const MessageStream& stream,
                                     std::chrono::milliseconds at_most);
  [[nodiscard]] bool is_needed() AIRLOCK_EXCLUDES(mutex_);
  [[nodiscard]] bool is_for_thread() AIRLOCK_EXCLUDES(mutex_);
  void tell_to_stop() noexcept AIRLOCK_EXCLUDES(mutex_);

  // What arrives, whoever reads it.
  void receive(MessageStream& stream) AIRLOCK_REQUIRES(exchanging_);
  void handle(MessageStream& stream, const Reply& message);
  void handle_error(MessageStream& stream, std::string_view error);
  void tell(WakeChannel& channel, const std::string& payload);
  void end(const ChannelPtr& channel) AIRLOCK_EXCLUDES(mutex_);
  void set(SubscribedChannel& channel, State state) AIRLOCK_EXCLUDES(mutex_);
  [[nodiscard]] ChannelPtr find(std::string_view name) AIRLOCK_EXCLUDES(mutex_);

  // A thread that sleeps and reads.
  [[nodiscard]] MessageStream* take_over(const WakeChannel& channel) AIRLOCK_EXCLUDES(mutex_);
  void read_until(const std::atomic<bool>& woken, MessageStream& stream, Clock& clock,
                  Instant deadline) noexcept;
  void hand_back() noexcept AIRLOCK_EXCLUDES(mutex_);

  Pool& pool_;
  const Options options_;

  base::StdMutex exchanging_;  // Of who uses the stream. Taken before mutex_.

  base::StdMutex mutex_;
  std::condition_variable changed_;
  ChannelTable channels_ AIRLOCK_GUARDED_BY(mutex_);
  const ReaderEvents events_;
  ReaderRole reader_ AIRLOCK_GUARDED_BY(mutex_){events_};
  bool stopping_ AIRLOCK_GUARDED_BY(mutex_) = false;
  std::uint64_t flushes_ AIRLOCK_GUARDED_BY(mutex_) = 0;

  PrimaryWatch primary_;  // Of the thread alone.
  std::atomic<bool> can_shard_ = true;
  std::weak_ptr<void> owner_;
  std::thread thread_;
};

}  // namespace airlock::redis
