#include "store/redis/pool.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace airlock::redis {
namespace {

// An idle connection is looked at before it is used again, and closed when it is this old.
constexpr Duration kFresh = std::chrono::milliseconds(20);
constexpr Duration kUnusedFor = std::chrono::seconds(30);
constexpr Duration kSweep = std::chrono::seconds(1);

}  // namespace

Pool::Pool(Locate locate, Limits limits)
    : locate_(std::move(locate)),
      limits_(std::move(limits)),
      lanes_(limits_.most),
      breaker_(std::chrono::milliseconds(50), limits_.longest_rest) {}

Pool::Lent Pool::take(HashSlot slot, const Deadline& deadline) {
  base::UniqueLock lock(mutex_);
  Lane& lane = lanes_[slot % lanes_.size()];
  for (drop_unusable(lane); !lane.pipeline; drop_unusable(lane)) {
    if (!lane.is_opening) {
      open_lane(lane, deadline);
    } else if (!breaker_.is_closed()) {
      throw not_tried();
    } else if (opening_ended_.wait_until(lock, deadline.at()) == std::cv_status::timeout) {
      throw unavailable("no connection in time");
    }
  }
  ++lane.pipeline->users;
  return {*this, lane.pipeline};
}

void Pool::drop_unusable(Lane& lane) {
  if (!lane.pipeline) return;
  Pipeline& pipeline = *lane.pipeline;
  const bool is_broken = pipeline.is_broken();
  if (is_broken && pipeline.is_silent()) note_silence(pipeline);
  const bool is_idle = pipeline.users == 0 && Deadline::Clock::now() - pipeline.last_used >= kFresh;
  if (is_broken || (is_idle && pipeline.is_stale())) lane.pipeline = nullptr;
}

void Pool::open_lane(Lane& lane, const Deadline& deadline) {
  lane.is_opening = true;
  mutex_.unlock();
  std::shared_ptr<Pipeline> pipeline;
  std::exception_ptr failure;
  try {
    pipeline =
        std::make_shared<Pipeline>(open_in_turn(deadline), limits_.timeout, limits_.replicas_ack);
  } catch (...) {
    failure = std::current_exception();
  }
  mutex_.lock();
  lane.is_opening = false;
  opening_ended_.notify_all();
  if (failure) std::rethrow_exception(failure);
  pipeline->last_used = Deadline::Clock::now();
  lane.pipeline = std::move(pipeline);
}

void Pool::give(const std::shared_ptr<Pipeline>& pipeline) noexcept {
  const base::LockGuard lock(mutex_);
  --pipeline->users;
  pipeline->last_used = Deadline::Clock::now();
  const bool is_broken = pipeline->is_broken();
  if (is_broken && pipeline->is_silent()) note_silence(*pipeline);
  if (!is_broken && pipeline->last_used < next_sweep_) return;
  next_sweep_ = pipeline->last_used + kSweep;
  for (Lane& lane : lanes_) {
    if (!lane.pipeline) continue;
    const bool is_idle = lane.pipeline->users == 0;
    const bool is_old = pipeline->last_used - lane.pipeline->last_used > kUnusedFor;
    // Where one broke, the others may wait for ever for an answer.
    if (is_broken ? is_idle || lane.pipeline == pipeline : is_idle && is_old) {
      lane.pipeline = nullptr;
    }
  }
}

std::unique_ptr<Connection> Pool::open_in_turn(const Deadline& deadline) {
  Clock& clock = Clock::system();
  if (!breaker_.allows(clock, std::chrono::ceil<Duration>(deadline.left()))) {
    const base::LockGuard lock(mutex_);
    throw not_tried();
  }
  try {
    auto connection = open(deadline);
    ++opened_;
    breaker_.succeeded();
    return connection;
  } catch (const StoreError& error) {
    if (deadline.is_cut_short() && deadline.is_over()) throw;
    const base::LockGuard lock(mutex_);
    if (error.kind() == StoreError::Kind::unavailable) {
      breaker_.failed(clock);
      last_failure_ = Failure::of(error);
    } else {
      breaker_.succeeded();  // It answers, whatever it says.
    }
    throw;
  }
}

void Pool::note_silence(const Pipeline& pipeline) {
  breaker_.failed(Clock::system());
  last_failure_ = Failure::of(at(pipeline.where(), unavailable("no reply in time")));
}

StoreError Pool::not_tried() const {
  return {last_failure_.kind, Outcome::nothing_happened, last_failure_.text};
}

std::unique_ptr<Connection> Pool::open(const Deadline& deadline) {
  const Address address = locate_(deadline);
  return std::make_unique<Connection>(address, tls(address), limits_.name, deadline);
}

const TlsContext* Pool::tls(const Address& address) {
  if (!address.tls) return nullptr;
  const base::LockGuard lock(mutex_);
  if (!tls_) tls_.emplace(address);
  return &*tls_;
}

void Pool::reconnect() noexcept {
  const base::LockGuard lock(mutex_);
  for (Lane& lane : lanes_) lane.pipeline = nullptr;
}

}  // namespace airlock::redis
