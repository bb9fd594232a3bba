#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "store/redis/connection.hpp"
#include "store/redis/notify/channel_table.hpp"

namespace airlock::redis {

// A connection on which a server speaks by itself: subscriptions go out, their confirmations and
// messages come in. Whatever throws ends it. One thread at a time; fd() and end() from any.
class MessageStream {
 public:
  MessageStream(std::unique_ptr<Connection> connection, Duration timeout)
      : connection_(std::move(connection)), timeout_(timeout) {}

  void subscribe(const ChannelTable::Ptr& channel);
  void unsubscribe(const WakeChannel& channel);
  // The first that was subscribed to and has no answer yet; null: there is none.
  [[nodiscard]] ChannelTable::Ptr take_unanswered();

  // Passes on what has arrived.
  void receive(const std::function<void(const Reply&)>& handle);

  // After a while of silence it asks for a sign of life; without one it throws.
  void check_heartbeat();

  [[nodiscard]] int fd() const noexcept { return connection_->fd(); }
  void end() noexcept { connection_->end(); }  // Whoever receives next finds it so.

 private:
  void send(std::string_view command, const WakeChannel& channel);

  const std::unique_ptr<Connection> connection_;
  const Duration timeout_;
  std::deque<ChannelTable::Ptr> unanswered_;  // In the order of the answers to come.
  Deadline::Clock::time_point last_heard_ = Deadline::Clock::now();
  bool pinged_ = false;  // Since then.
};

}  // namespace airlock::redis
