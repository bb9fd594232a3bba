#include "store/redis/notify/message_stream.hpp"

#include <string>

#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

constexpr auto kHeartbeat = std::chrono::seconds(5);  // After this silence the server is asked.

}  // namespace

void MessageStream::send(std::string_view command, const WakeChannel& channel) {
  Commands commands;
  commands.add_all({channel.sharded ? std::string("S").append(command) : command, channel.name});
  connection_->send(commands.bytes(), Deadline(timeout_));
}

void MessageStream::subscribe(const ChannelTable::Ptr& channel) {
  unanswered_.push_back(channel);
  send("SUBSCRIBE", *channel->target);
}

void MessageStream::unsubscribe(const WakeChannel& channel) { send("UNSUBSCRIBE", channel); }

ChannelTable::Ptr MessageStream::take_unanswered() {
  if (unanswered_.empty()) return nullptr;
  ChannelTable::Ptr first = std::move(unanswered_.front());
  unanswered_.pop_front();
  return first;
}

void MessageStream::receive(const std::function<void(const Reply&)>& handle) {
  connection_->receive();
  while (const auto message = connection_->next()) {
    last_heard_ = Deadline::Clock::now();
    pinged_ = false;
    handle(*message);
  }
}

void MessageStream::check_heartbeat() {
  const auto now = Deadline::Clock::now();
  if (now - last_heard_ < kHeartbeat) return;
  if (pinged_) throw unavailable("the subscription is silent");
  Commands commands;
  commands.add_all({"PING"});
  connection_->send(commands.bytes(), Deadline(timeout_));
  pinged_ = true;
  last_heard_ = now - kHeartbeat + timeout_;
}

}  // namespace airlock::redis
