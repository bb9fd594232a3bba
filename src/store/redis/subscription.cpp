#include "store/redis/subscription.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/posix.hpp"
#include "base/random.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/thread.hpp"

namespace airlock::redis {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

constexpr auto kIdle = 10s;      // Nobody has been here to be told for so long: it ends.
constexpr auto kHeartbeat = 5s;  // Silence for so long is looked into.
constexpr auto kBackOff = 50ms;
constexpr std::string_view kFlush = "flush";

}  // namespace

Subscription::Subscription(Pool& pool, std::string channel, Duration timeout)
    : pool_(pool),
      channel_(std::move(channel)),
      timeout_(timeout),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_fd_ < 0) base::throw_errno("eventfd", errno);
}

Subscription::~Subscription() { close(wake_fd_); }

void Subscription::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  wake();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Subscription::wake() const noexcept {
  const std::uint64_t one = 1;
  (void)!write(wake_fd_, &one, sizeof(one));
}

// REQUIRES: the mutex.
void Subscription::start() {
  wanted_ = true;
  changed_.notify_all();
  if (thread_.joinable()) return;
  thread_ = start_thread("airlock-redis", [this, owner = owner_.lock()] { run(); });
}

bool Subscription::confirm(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  if (state_ == State::listening) return true;
  start();
  const std::uint64_t seen = attempts_;
  changed_.wait_until(lock, deadline.at(),
                      [&] { return state_ == State::listening || attempts_ != seen; });
  return state_ == State::listening;
}

void Subscription::flush(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  if (state_ != State::listening) return;
  const std::uint64_t seen = flushes_;
  lock.unlock();
  Commands commands;
  commands.add_all({"PUBLISH", channel_, kFlush});
  (void)pool_.take(deadline)->ask(commands, deadline);
  lock.lock();
  changed_.wait_until(lock, deadline.at(),
                      [&] { return flushes_ != seen || state_ != State::listening; });
}

bool Subscription::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Subscription::set(State state) {
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  changed_.notify_all();
}

void Subscription::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [this] { return wanted_ || stopping_; });
    if (!stopping_) listen_once(lock);
  }
}

// One connection, from its opening to its end.
void Subscription::listen_once(std::unique_lock<std::mutex>& lock) {
  state_ = State::connecting;
  lock.unlock();
  bool failed = true;
  try {
    const std::unique_ptr<Connection> connection = pool_.open(Deadline(timeout_));
    Commands commands;
    commands.add_all({"SUBSCRIBE", channel_});
    const Reply confirmed = connection->ask(commands, Deadline(timeout_));
    if (confirmed.is_error()) throw refusal_of(confirmed.text());
    watchers_.listen();
    set(State::listening);
    failed = false;
    listen(*connection);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): tried again as long as it is wanted
  }
  {
    const std::lock_guard again(mutex_);
    state_ = State::idle;
    if (failed) {
      ++attempts_;
      wanted_ = false;  // Until somebody asks for it again, from this moment on.
    }
    changed_.notify_all();
  }
  watchers_.tell_all();
  lock.lock();
  if (!failed) return;
  changed_.wait_for(lock, kBackOff / 2 + (base::random64() % 1024) * kBackOff / 2048,
                    [this] { return stopping_; });
}

bool Subscription::wait_for_events(const Connection& connection,
                                   std::chrono::milliseconds at_most) const {
  std::array<pollfd, 2> waiting = {{{connection.fd(), POLLIN, 0}, {wake_fd_, POLLIN, 0}}};
  (void)poll(waiting.data(), waiting.size(), static_cast<int>(at_most.count()));
  return waiting[0].revents != 0;
}

// Returns when nobody needs it any more; throws when the connection ends.
void Subscription::listen(Connection& connection) {
  using Clock = Deadline::Clock;
  auto last_heard = Clock::now();
  auto last_needed = last_heard;
  auto last_check = last_heard;
  bool asked = false;
  while (!is_stopping()) {
    if (wait_for_events(connection, 1s)) {
      connection.receive();
      while (const auto message = connection.next()) handle(*message);
      last_heard = Clock::now();
      asked = false;
    }
    const auto now = Clock::now();
    if (now - last_check < 1s) continue;
    last_check = now;
    if (watchers_.has_any()) last_needed = now;
    if (now - last_needed > kIdle) {
      const std::lock_guard lock(mutex_);
      wanted_ = false;
      return;
    }
    if (now - last_heard < kHeartbeat) continue;
    if (asked) throw too_late("the subscription is silent");
    Commands commands;
    commands.add_all({"PING"});
    connection.send(commands.bytes(), Deadline(timeout_));
    asked = true;
    last_heard = now - kHeartbeat + timeout_;
  }
}

// message, channel, payload
void Subscription::handle(const Reply& message) {
  if (message.size() != 3 || message.at(0).text() != "message") return;
  const std::string payload(message.at(2).text());
  if (payload == kFlush) {
    const std::lock_guard lock(mutex_);
    ++flushes_;
    changed_.notify_all();
    return;
  }
  if (!hears_ || hears_()) watchers_.tell(payload);
}

}  // namespace airlock::redis
