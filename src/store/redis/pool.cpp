#include "store/redis/pool.hpp"

#include <utility>

namespace airlock::redis {
namespace {

// An idle connection is looked at before it is used again, and closed when it is this old.
constexpr Duration kFresh = std::chrono::milliseconds(20);
constexpr Duration kIdle = std::chrono::seconds(30);

}  // namespace

Pool::Pool(Locate locate, std::uint32_t most, std::string name, Duration rest)
    : locate_(std::move(locate)),
      most_(most),
      name_(std::move(name)),
      breaker_(std::chrono::milliseconds(50), rest) {}

Pool::Lent Pool::take(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const auto has_room = [this] { return lent_ < most_; };
  if (!has_room() && !given_.wait_until(lock, deadline.at(), has_room)) {
    throw too_late("all " + std::to_string(most_) +
                   " connections to a server are in use; see pool= in docs/stores.md");
  }
  ++lent_;
  const auto now = Deadline::Clock::now();
  while (!idle_.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    if (now - connection->last_used < kFresh || !connection->is_stale()) {
      return {*this, std::move(connection)};
    }
  }
  lock.unlock();
  try {
    return {*this, open_in_turn(deadline)};
  } catch (...) {
    give(nullptr);
    throw;
  }
}

void Pool::give(std::unique_ptr<Connection> connection) noexcept {
  // Closed unlocked. Where one connection broke, the others may wait for ever for an answer.
  std::unique_ptr<Connection> unused;
  std::vector<std::unique_ptr<Connection>> dubious;
  {
    const std::lock_guard lock(mutex_);
    --lent_;
    if (connection && connection->is_broken()) {
      dubious.swap(idle_);
      if (connection->is_silent()) note_silence(*connection);
    } else if (connection) {
      breaker_.succeeded();
      const auto now = Deadline::Clock::now();
      connection->last_used = now;
      idle_.push_back(std::move(connection));
      if (now - idle_.front()->last_used > kIdle) {
        unused = std::move(idle_.front());
        idle_.erase(idle_.begin());
      }
    }
  }
  given_.notify_one();
}

std::unique_ptr<Connection> Pool::open_in_turn(const Deadline& deadline) {
  Clock& clock = Clock::system();
  if (!breaker_.allows(clock, std::chrono::ceil<Duration>(deadline.left()))) throw_not_tried();
  try {
    auto connection = open(deadline);
    ++opened_;
    breaker_.succeeded();
    return connection;
  } catch (const StoreError& error) {
    if (deadline.is_cut_short() && deadline.is_over()) throw;
    const std::lock_guard lock(mutex_);
    if (error.kind() == StoreError::Kind::unavailable) {
      breaker_.failed(clock);
      last_failure_ = Failure::of(error);
    } else {
      breaker_.succeeded();  // It answers, whatever it says.
    }
    throw;
  }
}

// REQUIRES: the mutex.
void Pool::note_silence(const Connection& connection) {
  breaker_.failed(Clock::system());
  last_failure_ = Failure::of(at(connection.where(), unavailable("no reply in time")));
}

void Pool::throw_not_tried() {
  const std::lock_guard lock(mutex_);
  throw StoreError(last_failure_.kind, Outcome::nothing_happened, last_failure_.text);
}

std::unique_ptr<Connection> Pool::open(const Deadline& deadline) {
  const Address address = locate_(deadline);
  return std::make_unique<Connection>(address, tls(address), name_, deadline);
}

const TlsContext* Pool::tls(const Address& address) {
  if (!address.tls) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!tls_) tls_.emplace(address);
  return &*tls_;
}

void Pool::drop_idle() noexcept {
  std::vector<std::unique_ptr<Connection>> unused;
  const std::lock_guard lock(mutex_);
  unused.swap(idle_);
}

}  // namespace airlock::redis
