#include "store/redis/notify/subscription.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/thread.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

constexpr auto kLinger = 10s;  // A channel without watchers ends after this.
constexpr auto kBackOff = 50ms;
constexpr std::string_view kFlush = "flush";

}  // namespace

Subscription::Subscription(Pool& pool, Options options)
    : pool_(pool), options_(std::move(options)), primary_(options_.sentinels, options_.timeout) {}

void Subscription::tell_to_stop() noexcept {
  {
    const base::LockGuard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  events_.thread.signal();
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

void Subscription::start() {
  changed_.notify_all();
  events_.thread.signal();
  if (thread_.joinable()) return;
  thread_ = base::start_thread("airlock-redis", [this, owner = owner_.lock()] { run(); });
}

bool Subscription::confirm(const std::shared_ptr<WakeChannel>& target, const Deadline& deadline) {
  base::UniqueLock lock(mutex_);
  if (stopping_) return false;
  const ChannelPtr channel = channels_.find_or_add(target);
  if (channel->state == State::listening) return true;
  start();
  changed_.wait_until(lock, deadline.at(), [&] { return channel->is_settled(); });
  return channel->state == State::listening;
}

void Subscription::flush(const WakeChannel& channel, const Deadline& deadline) {
  base::UniqueLock lock(mutex_);
  if (!channels_.is_listening(channel.name)) return;
  const std::uint64_t seen = flushes_;
  lock.unlock();
  Commands commands;
  commands.add_all({channel.sharded ? "SPUBLISH" : "PUBLISH", channel.name, kFlush});
  (void)pool_.take(0, deadline)->ask(commands, deadline);
  attend();
  lock.lock();
  changed_.wait_until(lock, deadline.at(), [&]() AIRLOCK_REQUIRES(mutex_) {
    return flushes_ != seen || !channels_.is_listening(channel.name);
  });
}

bool Subscription::is_needed() {
  const base::LockGuard lock(mutex_);
  return !stopping_ && !channels_.is_empty();
}

Subscription::ChannelPtr Subscription::find(std::string_view name) {
  const base::LockGuard lock(mutex_);
  return channels_.find(name);
}

void Subscription::set(SubscribedChannel& channel, State state) {
  {
    const base::LockGuard lock(mutex_);
    channel.state = state;
  }
  changed_.notify_all();
}

// Nothing is heard there any more: who waits for it must ask.
void Subscription::end(const ChannelPtr& channel) {
  {
    const base::LockGuard lock(mutex_);
    channels_.end(channel);
  }
  changed_.notify_all();
  channel->target->watchers.tell_all();
}

void Subscription::run() {
  base::UniqueLock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock,
                  [this]() AIRLOCK_REQUIRES(mutex_) { return !channels_.is_empty() || stopping_; });
    if (stopping_) return;
    lock.unlock();
    const bool connected = listen_once();
    lock.lock();
    if (connected) continue;
    changed_.wait_for(lock, kBackOff / 2 + (base::random64() % 1024) * kBackOff / 2048,
                      [this]() AIRLOCK_REQUIRES(mutex_) { return stopping_; });
  }
}

// One stream, from its opening to its end.
bool Subscription::listen_once() {
  std::optional<MessageStream> stream;
  try {
    stream.emplace(pool_.open(Deadline(options_.timeout)), options_.timeout);
    open_stream(*stream);
    listen(*stream);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): tried again when somebody wants it
  }
  const std::vector<ChannelPtr> ended = close_stream();
  const bool connected = stream.has_value();
  stream.reset();
  primary_.stop();
  for (const ChannelPtr& channel : ended) end(channel);
  return connected;
}

void Subscription::open_stream(MessageStream& stream) {
  const base::LockGuard lock(mutex_);
  reader_.open(stream);
}

// Returns when nobody but the thread uses it.
std::vector<Subscription::ChannelPtr> Subscription::close_stream() {
  base::UniqueLock lock(mutex_);
  reader_.close();
  changed_.wait(lock, [this]() AIRLOCK_REQUIRES(mutex_) { return !reader_.is_taken_over(); });
  return channels_.all();
}

bool Subscription::is_for_thread() {
  const base::LockGuard lock(mutex_);
  return reader_.is_for_thread();
}

bool Subscription::wait_for_events(const MessageStream& stream, std::chrono::milliseconds at_most) {
  const EventFd& event = events_.thread;
  std::array<pollfd, 3> waiting = {{{is_for_thread() ? stream.fd() : -1, POLLIN, 0},
                                    {event.fd(), POLLIN, 0},
                                    {primary_.fd(), POLLIN, 0}}};
  (void)poll(waiting.data(), waiting.size(), static_cast<int>(at_most.count()));
  if (waiting[1].revents != 0) event.reset();
  return waiting[0].revents != 0 && is_for_thread();
}

// Returns when nobody needs it any more; throws when the stream ends.
void Subscription::listen(MessageStream& stream) {
  auto last_check = Deadline::Clock::now();
  while (is_needed()) {
    subscribe(stream);
    if (wait_for_events(stream, 1s)) {
      const base::LockGuard lock(exchanging_);
      receive(stream);
    }
    check_primary();
    const auto now = Deadline::Clock::now();
    if (now - last_check < 1s) continue;
    last_check = now;
    const base::LockGuard lock(exchanging_);
    end_idle(stream);
    receive(stream);
    stream.check_heartbeat();
  }
}

void Subscription::check_primary() {
  if (!primary_.has_changed()) return;
  pool_.reconnect();
  throw unavailable("another server is the primary now");
}

void Subscription::subscribe(MessageStream& stream) {
  std::vector<ChannelPtr> wanted;
  {
    const base::LockGuard lock(mutex_);
    wanted = channels_.wanted();
  }
  if (wanted.empty()) return;
  const base::LockGuard lock(exchanging_);
  for (const ChannelPtr& channel : wanted) {
    set(*channel, State::asked);
    stream.subscribe(channel);
  }
}

void Subscription::end_idle(MessageStream& stream) {
  std::vector<ChannelPtr> unneeded;
  {
    const base::LockGuard lock(mutex_);
    unneeded = channels_.unneeded(Deadline::Clock::now(), kLinger);
  }
  for (const ChannelPtr& channel : unneeded) {
    end(channel);
    stream.unsubscribe(*channel->target);
  }
}

// --- what arrives ---

void Subscription::receive(MessageStream& stream) {
  stream.receive([&](const Reply& message) { handle(stream, message); });
}

// The answer to the first SUBSCRIBE that has none yet.
void Subscription::handle_error(MessageStream& stream, std::string_view error) {
  const ChannelPtr channel = stream.take_unanswered();
  if (!channel) throw refusal_of(error);
  if (channel->target->sharded && error.find("unknown command") != std::string_view::npos) {
    can_shard_ = false;
  }
  end(channel);
}

void Subscription::tell(WakeChannel& channel, const std::string& payload) {
  if (payload == kFlush) {
    const base::LockGuard lock(mutex_);
    ++flushes_;
    changed_.notify_all();
  } else if (!options_.hears || options_.hears()) {
    channel.watchers.tell(payload);
  }
}

// An error, or what has happened to a channel: message, channel, payload.
void Subscription::handle(MessageStream& stream, const Reply& message) {
  if (message.is_error()) return handle_error(stream, message.text());
  if (message.size() != 3) return;
  std::string_view kind = message.at(0).text();
  if (kind.starts_with('s') && kind != "subscribe") kind.remove_prefix(1);  // Of a slot.
  if (kind == "subscribe") (void)stream.take_unanswered();
  const ChannelPtr channel = find(message.at(1).text());
  if (!channel) return;
  if (kind == "subscribe") {
    channel->target->watchers.listen();
    set(*channel, State::listening);
  } else if (kind == "message") {
    tell(*channel->target, std::string(message.at(2).text()));
  } else if (kind == "unsubscribe" && channel->state == State::listening) {
    end(channel);  // Not asked for: its slot has moved to another server.
  }
}

// --- a thread that sleeps and reads ---

void Subscription::attend() {
  const base::LockGuard lock(mutex_);
  reader_.call_back();
  reader_.call_thread();
}

// Null: the thread reads.
MessageStream* Subscription::take_over(const WakeChannel& channel) {
  const base::LockGuard lock(mutex_);
  MessageStream* const stream =
      channels_.has_one_to_tell(channel.name) ? reader_.take_over() : nullptr;
  if (stream == nullptr) reader_.call_thread();
  return stream;
}

void Subscription::hand_back() noexcept {
  {
    const base::LockGuard lock(mutex_);
    reader_.hand_back();
    if (!channels_.has_nobody_to_tell()) reader_.call_thread();
  }
  changed_.notify_all();
}

// From take_over() to hand_back() nothing throws.
bool Subscription::sleep(const WakeChannel& channel, Sleeper& sleeper, Clock& clock,
                         Instant deadline) {
  if (MessageStream* const stream = take_over(channel)) {
    std::atomic<bool> woken = false;
    const auto on_wake = [&, own = std::this_thread::get_id()] {
      woken = true;
      if (std::this_thread::get_id() != own) events_.sleeper.signal();
    };
    if (sleeper.park(std::ref(on_wake))) {
      read_until(woken, *stream, clock, deadline);
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
void Subscription::read_until(const std::atomic<bool>& woken, MessageStream& stream, Clock& clock,
                              Instant deadline) noexcept try {
  while (!woken) {
    const Duration left = std::min<Duration>(deadline - clock.now(), 1s);
    if (left <= Duration(0)) return;
    std::array<pollfd, 2> waiting = {{{stream.fd(), POLLIN, 0}, {events_.sleeper.fd(), POLLIN, 0}}};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left);
    (void)poll(waiting.data(), waiting.size(), static_cast<int>(ms.count()));
    if (waiting[1].revents != 0) return;
    if (waiting[0].revents == 0) continue;
    if (!exchanging_.try_lock()) return;
    const base::LockGuard lock(exchanging_, std::adopt_lock);
    receive(stream);
  }
} catch (const std::exception&) {
  stream.end();  // As the thread finds.
}

}  // namespace airlock::redis
