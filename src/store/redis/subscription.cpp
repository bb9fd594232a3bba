#include "store/redis/subscription.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/thread.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

constexpr auto kLinger = 10s;    // Nobody has been here to be told for so long: it ends.
constexpr auto kHeartbeat = 5s;  // Silence for so long is looked into.
constexpr auto kBackOff = 50ms;
constexpr std::string_view kFlush = "flush";

void send(Connection& connection, std::string_view command, const WakeChannel& channel,
          Duration timeout) {
  Commands commands;
  commands.add_all({channel.sharded ? std::string("S").append(command) : command, channel.name});
  connection.send(commands.bytes(), Deadline(timeout));
}

}  // namespace

Subscription::Subscription(Pool& pool, Options options)
    : pool_(pool), options_(std::move(options)) {}

void Subscription::tell_to_stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_event_.signal();
}

void Subscription::stop() noexcept {
  if (thread_.joinable() && thread_.get_id() == std::this_thread::get_id()) return retire();
  tell_to_stop();
  if (thread_.joinable()) thread_.join();
}

void Subscription::retire() noexcept {
  tell_to_stop();
  if (thread_.joinable()) thread_.detach();
}

// REQUIRES: the mutex.
void Subscription::start() {
  changed_.notify_all();
  thread_event_.signal();
  if (thread_.joinable()) return;
  thread_ = base::start_thread("airlock-redis", [this, owner = owner_.lock()] { run(); });
}

bool Subscription::confirm(const std::shared_ptr<WakeChannel>& target, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  if (stopping_) return false;
  ChannelPtr& known = channels_[target->name];
  if (!known) known = std::make_shared<Channel>(Channel{.target = target});
  const ChannelPtr channel = known;
  if (channel->state == Channel::State::listening) return true;
  start();
  changed_.wait_until(lock, deadline.at(), [&] {
    return channel->state == Channel::State::listening || channel->state == Channel::State::over;
  });
  return channel->state == Channel::State::listening;
}

void Subscription::flush(const WakeChannel& channel, const Deadline& deadline) {
  const auto is_listening = [&] {
    const auto found = channels_.find(channel.name);
    return found != channels_.end() && found->second->state == Channel::State::listening;
  };
  std::unique_lock lock(mutex_);
  if (!is_listening()) return;
  const std::uint64_t seen = flushes_;
  lock.unlock();
  Commands commands;
  commands.add_all({channel.sharded ? "SPUBLISH" : "PUBLISH", channel.name, kFlush});
  (void)pool_.take(deadline)->ask(commands, deadline);
  attend();
  lock.lock();
  changed_.wait_until(lock, deadline.at(), [&] { return flushes_ != seen || !is_listening(); });
}

bool Subscription::is_needed() {
  const std::lock_guard lock(mutex_);
  return !stopping_ && !channels_.empty();
}

Subscription::ChannelPtr Subscription::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = channels_.find(name);
  return found == channels_.end() ? nullptr : found->second;
}

void Subscription::set(Channel& channel, Channel::State state) {
  {
    const std::lock_guard lock(mutex_);
    channel.state = state;
  }
  changed_.notify_all();
}

// Nothing is heard there any more: who waits for it must ask.
void Subscription::end(const ChannelPtr& channel) {
  {
    const std::lock_guard lock(mutex_);
    channel->state = Channel::State::over;
    if (const auto found = channels_.find(channel->target->name);
        found != channels_.end() && found->second == channel) {
      channels_.erase(found);
    }
  }
  changed_.notify_all();
  channel->target->watchers.tell_all();
}

void Subscription::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [this] { return !channels_.empty() || stopping_; });
    if (!stopping_) listen_once(lock);
  }
}

// One connection, from its opening to its end.
void Subscription::listen_once(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::unique_ptr<Connection> connection;
  try {
    connection = pool_.open(Deadline(options_.timeout));
    last_heard_ = Deadline::Clock::now();
    pinged_ = false;
    lock.lock();
    connection_ = connection.get();
    lock.unlock();
    listen(*connection);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): tried again when somebody wants it
  }
  std::vector<ChannelPtr> ended;
  lock.lock();
  await_hand_back(lock);
  for (const auto& [name, channel] : channels_) ended.push_back(channel);
  lock.unlock();
  const bool connected = connection != nullptr;
  connection.reset();
  asked_.clear();
  sentinel_.reset();
  for (const ChannelPtr& channel : ended) end(channel);
  lock.lock();
  if (connected) return;
  changed_.wait_for(lock, kBackOff / 2 + (base::random64() % 1024) * kBackOff / 2048,
                    [this] { return stopping_; });
}

bool Subscription::wait_for_events(const Connection& connection,
                                   std::chrono::milliseconds at_most) {
  std::array<pollfd, 3> waiting = {{{is_for_thread_to_read() ? connection.fd() : -1, POLLIN, 0},
                                    {thread_event_.fd(), POLLIN, 0},
                                    {sentinel_ ? sentinel_->fd() : -1, POLLIN, 0}}};
  (void)poll(waiting.data(), waiting.size(), static_cast<int>(at_most.count()));
  if (waiting[1].revents != 0) thread_event_.reset();
  return waiting[0].revents != 0 && is_for_thread_to_read();
}

// Returns when nobody needs it any more; throws when the connection ends.
void Subscription::listen(Connection& connection) {
  auto last_check = Deadline::Clock::now();
  while (is_needed()) {
    subscribe(connection);
    if (wait_for_events(connection, 1s)) {
      const std::lock_guard lock(exchanging_);
      receive(connection);
    }
    watch_primary();
    const auto now = Deadline::Clock::now();
    if (now - last_check < 1s) continue;
    last_check = now;
    const std::lock_guard lock(exchanging_);
    end_idle(connection);
    check_heartbeat(connection);
  }
}

// REQUIRES: exchanging_.
void Subscription::check_heartbeat(Connection& connection) {
  receive(connection);
  const auto now = Deadline::Clock::now();
  if (now - last_heard_ < kHeartbeat) return;
  if (pinged_) throw unavailable("the subscription is silent");
  Commands commands;
  commands.add_all({"PING"});
  connection.send(commands.bytes(), Deadline(options_.timeout));
  pinged_ = true;
  last_heard_ = now - kHeartbeat + options_.timeout;
}

void Subscription::subscribe(Connection& connection) {
  std::vector<ChannelPtr> wanted;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, channel] : channels_) {
      if (channel->state == Channel::State::wanted) wanted.push_back(channel);
    }
  }
  if (wanted.empty()) return;
  const std::lock_guard lock(exchanging_);
  for (const ChannelPtr& channel : wanted) {
    set(*channel, Channel::State::asked);
    asked_.push_back(channel);
    send(connection, "SUBSCRIBE", *channel->target, options_.timeout);
  }
}

// REQUIRES: exchanging_.
void Subscription::receive(Connection& connection) {
  connection.receive();
  while (const auto message = connection.next()) {
    last_heard_ = Deadline::Clock::now();
    pinged_ = false;
    handle(*message);
  }
}

// The answer to the first SUBSCRIBE that has none yet.
void Subscription::handle_error(std::string_view error) {
  if (asked_.empty()) throw refusal_of(error);
  const ChannelPtr channel = asked_.front();
  asked_.pop_front();
  if (channel->target->sharded && error.find("unknown command") != std::string_view::npos) {
    can_shard_ = false;
  }
  end(channel);
}

void Subscription::tell(WakeChannel& channel, const std::string& payload) {
  if (payload == kFlush) {
    const std::lock_guard lock(mutex_);
    ++flushes_;
    changed_.notify_all();
  } else if (!options_.hears || options_.hears()) {
    channel.watchers.tell(payload);
  }
}

// An error, or what has happened to a channel: message, channel, payload.
void Subscription::handle(const Reply& message) {
  if (message.is_error()) return handle_error(message.text());
  if (message.size() != 3) return;
  std::string_view kind = message.at(0).text();
  if (kind.starts_with('s') && kind != "subscribe") kind.remove_prefix(1);  // Of a slot.
  if (kind == "subscribe" && !asked_.empty()) asked_.pop_front();
  const ChannelPtr channel = find(message.at(1).text());
  if (!channel) return;
  if (kind == "subscribe") {
    channel->target->watchers.listen();
    set(*channel, Channel::State::listening);
  } else if (kind == "message") {
    tell(*channel->target, std::string(message.at(2).text()));
  } else if (kind == "unsubscribe" && channel->state == Channel::State::listening) {
    end(channel);  // Not asked for: its slot has moved to another server.
  }
}

// REQUIRES: exchanging_.
void Subscription::end_idle(Connection& connection) {
  const auto now = Deadline::Clock::now();
  std::vector<ChannelPtr> idle;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, channel] : channels_) {
      if (channel->target->watchers.has_any()) channel->last_needed = now;
      const bool listens = channel->state == Channel::State::listening;
      if (listens && now - channel->last_needed > kLinger) idle.push_back(channel);
    }
  }
  for (const ChannelPtr& channel : idle) {
    end(channel);
    send(connection, "UNSUBSCRIBE", *channel->target, options_.timeout);
  }
}

// The sentinels only make it quicker: without them it is noticed when the server does not answer.
void Subscription::watch_primary() {
  if (!options_.sentinels) return;
  try {
    if (!sentinel_) {
      if (Deadline::Clock::now() < next_sentinel_) return;
      next_sentinel_ = Deadline::Clock::now() + kHeartbeat;
      sentinel_ = options_.sentinels->listen(Deadline(options_.timeout));
      return;
    }
    sentinel_->receive();
    while (const auto message = sentinel_->next()) {
      if (!options_.sentinels->is_change(*message)) continue;
      sentinel_.reset();
      break;
    }
  } catch (const StoreError&) {
    sentinel_.reset();
    return;
  }
  if (sentinel_) return;
  pool_.drop_idle();
  throw unavailable("another server is the primary now");
}

// --- who reads ---

// REQUIRES: the mutex.
bool Subscription::is_idle() const noexcept {
  return std::ranges::all_of(channels_, [](const auto& entry) {
    const Channel& channel = *entry.second;
    return channel.state == Channel::State::listening && channel.target->watchers.is_empty();
  });
}

// REQUIRES: the mutex.
bool Subscription::is_only_one_to_tell(const WakeChannel& channel) const noexcept {
  const auto own = channels_.find(channel.name);
  if (own == channels_.end() || own->second->state != Channel::State::listening) return false;
  std::size_t to_tell = 0;
  for (auto at = channels_.begin(); at != channels_.end() && to_tell <= 1; ++at) {
    to_tell += at->second->target->watchers.size();
  }
  return to_tell == 1;
}

bool Subscription::is_for_thread_to_read() {
  const std::lock_guard lock(mutex_);
  if (reader_ == Reader::nobody) reader_ = Reader::thread;
  return reader_ == Reader::thread;
}

// REQUIRES: the mutex.
void Subscription::call_thread() const noexcept {
  if (reader_ == Reader::nobody) thread_event_.signal();
}

void Subscription::attend() {
  const std::lock_guard lock(mutex_);
  if (reader_ == Reader::sleeper) sleeper_event_.signal();
  call_thread();
}

// Null: the thread reads.
Connection* Subscription::take_over(const WakeChannel& channel) {
  const std::lock_guard lock(mutex_);
  if (connection_ == nullptr || reader_ == Reader::sleeper || !is_only_one_to_tell(channel)) {
    call_thread();
    return nullptr;
  }
  sleeper_event_.reset();
  if (std::exchange(reader_, Reader::sleeper) == Reader::thread) thread_event_.signal();
  return connection_;
}

void Subscription::hand_back() noexcept {
  {
    const std::lock_guard lock(mutex_);
    reader_ = Reader::nobody;
    if (!is_idle()) call_thread();
  }
  changed_.notify_all();
}

// Until nobody but the thread uses the connection.
void Subscription::await_hand_back(std::unique_lock<std::mutex>& lock) {
  connection_ = nullptr;
  if (reader_ == Reader::sleeper) sleeper_event_.signal();
  changed_.wait(lock, [this] { return reader_ != Reader::sleeper; });
}

// From take_over() to hand_back() nothing throws.
bool Subscription::sleep(const WakeChannel& channel, Sleeper& sleeper, Clock& clock,
                         Instant deadline) {
  if (Connection* const connection = take_over(channel)) {
    std::atomic<bool> woken = false;
    const auto on_wake = [&, own = std::this_thread::get_id()] {
      woken = true;
      if (std::this_thread::get_id() != own) sleeper_event_.signal();
    };
    if (sleeper.park(std::ref(on_wake))) {
      read_until(woken, *connection, clock, deadline);
    } else {
      woken = true;
    }
    const bool news = sleeper.unpark();
    hand_back();
    if (woken) return news;
  }
  return sleeper.sleep(clock, deadline);
}

// Or until the deadline, or something comes up that is for the thread.
void Subscription::read_until(const std::atomic<bool>& woken, Connection& connection, Clock& clock,
                              Instant deadline) noexcept try {
  while (!woken) {
    const Duration left = std::min<Duration>(deadline - clock.now(), 1s);
    if (left <= Duration(0)) return;
    std::array<pollfd, 2> waiting = {
        {{connection.fd(), POLLIN, 0}, {sleeper_event_.fd(), POLLIN, 0}}};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left);
    (void)poll(waiting.data(), waiting.size(), static_cast<int>(ms.count()));
    if (waiting[1].revents != 0) return;
    if (waiting[0].revents == 0) continue;
    const std::unique_lock lock(exchanging_, std::try_to_lock);
    if (!lock) return;
    receive(connection);
  }
} catch (const std::exception&) {
  connection.end();  // As the thread finds.
}

}  // namespace airlock::redis
