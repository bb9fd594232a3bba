#include "store/redis/pool.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

constexpr Duration kFirstBackOff = std::chrono::milliseconds(10);
constexpr Duration kLongestBackOff = std::chrono::seconds(1);

// An idle connection is looked at before it is used again, and closed when it is this old.
constexpr Duration kFresh = std::chrono::milliseconds(20);
constexpr Duration kIdle = std::chrono::seconds(30);

// Between half of it and all of it.
Duration jittered(Duration duration) {
  const auto half = static_cast<std::uint64_t>(duration.count() / 2);
  return Duration(static_cast<std::int64_t>(half + base::random64() % (half + 1)));
}

}  // namespace

Pool::Pool(Address address, std::uint32_t most, std::string name)
    : address_(std::move(address)), most_(most), name_(std::move(name)) {}

Pool::Lent Pool::take(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const auto has_room = [this] { return lent_ < most_; };
  if (!has_room() && !given_.wait_until(lock, deadline.at(), has_room)) {
    throw too_late("all " + std::to_string(most_) + " connections are in use");
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
  std::unique_ptr<Connection> unused;  // Closed unlocked.
  {
    const std::lock_guard lock(mutex_);
    --lent_;
    if (connection && !connection->is_broken()) {
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
  {
    const std::lock_guard lock(mutex_);
    if (Deadline::Clock::now() < next_attempt_) {
      throw unavailable(last_failure_ + " (not tried again yet)");
    }
  }
  try {
    auto connection = open(deadline);
    const std::lock_guard lock(mutex_);
    back_off_ = Duration(0);
    return connection;
  } catch (const StoreError& error) {
    note_failure(error);
    throw;
  }
}

void Pool::note_failure(const StoreError& error) {
  constexpr std::string_view kPrefix = "redis: ";
  const std::lock_guard lock(mutex_);
  back_off_ = std::clamp(2 * back_off_, kFirstBackOff, kLongestBackOff);
  next_attempt_ = Deadline::Clock::now() + jittered(back_off_);
  std::string_view what = error.what();
  if (what.starts_with(kPrefix)) what.remove_prefix(kPrefix.size());
  last_failure_ = what;
}

std::unique_ptr<Connection> Pool::open(const Deadline& deadline) {
  return std::make_unique<Connection>(address_, tls(), name_, deadline);
}

const TlsContext* Pool::tls() {
  if (!address_.tls) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!tls_) tls_.emplace(address_);
  return &*tls_;
}

void Pool::drop_idle() noexcept {
  std::vector<std::unique_ptr<Connection>> unused;
  const std::lock_guard lock(mutex_);
  unused.swap(idle_);
}

}  // namespace airlock::redis
