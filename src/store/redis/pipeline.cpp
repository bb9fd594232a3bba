#include "store/redis/pipeline.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/futex.hpp"
#include "store/redis/info.hpp"

namespace airlock::redis {

class Pipeline::Wakes {
 public:
  explicit Wakes(const Caller& self) noexcept : self_(self) {}
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  void add(const Caller& caller) noexcept {
    if (&caller == &self_) return;
    if (count_ == sleepers_.size()) flush();
    sleepers_[count_++] = &caller.state;
  }

  // Best with the mutex free. Who is woken may have gone by itself before: then the wake finds nobody at the
  // address, or somebody who looks again.
  void flush() noexcept {
    for (std::size_t i = 0; i < count_; ++i) base::futex_wake(*sleepers_[i], 1);
    count_ = 0;
  }

 private:
  const Caller& self_;
  std::array<const std::atomic<std::uint32_t>*, 64> sleepers_;
  std::size_t count_ = 0;
};

Pipeline::Pipeline(std::unique_ptr<Connection> connection, Duration timeout,
                   std::uint32_t replicas_ack)
    : connection_(std::move(connection)),
      timeout_(timeout),
      replicas_ack_(replicas_ack),
      heard_(Deadline::Clock::now()) {}

Pipeline::~Pipeline() {
  if (failure_ || !sent_.empty()) connection_->discard();
}

Pipeline::Response Pipeline::exchange(Request request, const Deadline& deadline) {
  Caller self{.request = std::move(request), .deadline = deadline};
  self.response.replies.reserve(self.request.replies);
  Wakes wakes(self);
  Lock lock(mutex_);
  if (failure_) throw StoreError(failure_->kind, Outcome::nothing_happened, failure_->text);
  queued_.push_back(&self);
  while (!self.is_decided()) {
    if (may_write()) {
      write(lock, deadline, wakes);
    } else if (may_read()) {
      read(lock, deadline, wakes);
    } else {
      self.state.store(kWaiting, std::memory_order_relaxed);
      lock.unlock();
      wakes.flush();
      base::futex_wait(self.state, kWaiting, std::chrono::ceil<Duration>(deadline.left()));
      if (self.is_decided()) break;
      lock.lock();
    }
    if (!self.is_decided() && deadline.is_over()) leave(self, wakes);
  }
  if (lock.owns_lock()) {
    if (may_write()) write(lock, Deadline(Time{}), wakes);
    call_another(wakes);
    lock.unlock();
    wakes.flush();
  }
  if (self.failure) throw StoreError(self.failure->error());
  return std::move(self.response);
}

bool Pipeline::may_write() const noexcept {
  if (is_writing_ || failure_) return false;
  return !unsent_.empty() || (!queued_.empty() && !awaits_replicas_);
}

void Pipeline::write(Lock& lock, const Deadline& deadline, Wakes& wakes) noexcept try {
  if (unsent_.empty()) gather();
  is_writing_ = true;
  lock.unlock();
  std::optional<StoreError> failure;
  std::size_t wrote = 0;
  try {
    wrote = connection_->write_some(std::string_view(unsent_).substr(unsent_from_));
    if (wrote == 0) {
      wakes.flush();
      (void)connection_->wait_to_write(deadline);
    }
  } catch (const StoreError& error) {
    failure = error;
  }
  lock.lock();
  is_writing_ = false;
  unsent_from_ += wrote;
  if (unsent_from_ == unsent_.size()) unsent_.clear();
  if (failure) fail(failure_here(*failure), wakes);
} catch (const std::exception&) {  // No memory.
  if (!lock.owns_lock()) lock.lock();
  is_writing_ = false;
  fail({StoreError::Kind::no_room, Outcome::unknown, "no memory"}, wakes);
}

// All that is queued is now on its way, in one piece. Wherever memory runs out, a caller is in one list
// and not in two: it may be gone once it is decided.
void Pipeline::gather() {
  const Time now = Deadline::Clock::now();
  const Time first_ack = first_to_need_ack();
  if (first_ack != Time::max()) unacknowledged_.reserve(queued_.size());
  std::string bytes;
  if (queued_.size() == 1) bytes.swap(queued_.front()->request.bytes);
  while (!queued_.empty()) {
    Caller* const caller = queued_.front();
    bytes.append(caller->request.bytes);
    sent_.push_back({Sent::What::calls, caller, caller->request.replies, now});
    queued_.pop_front();
  }
  if (first_ack != Time::max()) append_wait(bytes, now, first_ack);
  if (connection_->is_check_due()) append_check(bytes, now);
  unsent_ = connection_->to_wire(std::move(bytes));
  unsent_from_ = 0;
}

// The earliest deadline of those that wait for replicas.
Pipeline::Time Pipeline::first_to_need_ack() const noexcept {
  Time first = Time::max();
  if (replicas_ack_ == 0) return first;
  for (const Caller* const caller : queued_) {
    if (caller->request.needs_ack) first = std::min(first, caller->deadline.at());
  }
  return first;
}

// One WAIT for all; it ends with time to spare for the one who has the least.
void Pipeline::append_wait(std::string& bytes, Time now, Time first) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(first - now) / 2;
  Commands wait;
  wait.add_all({"WAIT", std::to_string(replicas_ack_),
                std::to_string(std::max<std::int64_t>(left.count(), 1))});
  bytes.append(wait.bytes());
  sent_.push_back({Sent::What::replicas, nullptr, 1, now});
  awaits_replicas_ = true;
}

void Pipeline::append_check(std::string& bytes, Time now) {
  Commands info;
  info.add_all({"INFO", "memory"});
  bytes.append(info.bytes());
  sent_.push_back({Sent::What::memory, nullptr, 1, now});
  connection_->begin_check();
}

void Pipeline::read(Lock& lock, const Deadline& deadline, Wakes& wakes) noexcept try {
  is_reading_ = true;
  lock.unlock();
  wakes.flush();
  Connection::Buffer buffer;
  std::optional<StoreError> failure;
  std::size_t got = 0;
  try {
    got = connection_->read_by(deadline, buffer);
  } catch (const StoreError& error) {
    failure = error;
  }
  lock.lock();
  is_reading_ = false;
  if (got != 0 && !failure_) {
    heard_ = Deadline::Clock::now();
    connection_->take_in(buffer, got);
    while (std::optional<Reply> reply = connection_->next()) deliver(std::move(*reply), wakes);
  }
  if (failure) fail(failure_here(*failure), wakes);
} catch (const StoreError& error) {  // It speaks garbage.
  fail(failure_here(error), wakes);
} catch (const std::exception&) {  // No memory.
  if (!lock.owns_lock()) lock.lock();
  is_reading_ = false;
  fail({StoreError::Kind::no_room, Outcome::unknown, "no memory"}, wakes);
}

void Pipeline::deliver(Reply&& reply, Wakes& wakes) {
  if (sent_.empty()) throw unavailable("the server said something that nobody asked for");
  Sent& first = sent_.front();
  Caller* const caller = first.caller;
  if (first.what == Sent::What::memory) connection_->note_memory(reply);
  if (first.what == Sent::What::replicas) deliver_ack(reply, wakes);
  if (caller != nullptr) caller->response.replies.push_back(std::move(reply));
  if (--first.replies != 0) return;
  sent_.pop_front();
  if (caller == nullptr) return;
  if (awaits_replicas_ && caller->request.needs_ack) {
    unacknowledged_.push_back(caller);
  } else {
    decide(*caller, wakes);
  }
}

void Pipeline::deliver_ack(const Reply& reply, Wakes& wakes) {
  awaits_replicas_ = false;
  std::optional<Failure> refused;
  if (reply.is_error()) refused = failure_here(refusal_of(reply.text()));
  const bool acknowledged = !refused && reply.integer() >= replicas_ack_;
  for (Caller* const caller : unacknowledged_) {
    if (refused) {
      decide(*caller, *refused, Outcome::unknown, wakes);  // The calls were made.
    } else {
      caller->response.acknowledged = acknowledged;
      decide(*caller, wakes);
    }
  }
  unacknowledged_.clear();
}

void Pipeline::decide(Caller& caller, Wakes& wakes) noexcept {
  caller.state.store(kDecided, std::memory_order_release);
  wakes.add(caller);
}

// Without its text where there is no memory for it.
void Pipeline::decide(Caller& caller, const Failure& failure, Outcome outcome,
                      Wakes& wakes) noexcept {
  caller.failure = {failure.kind, outcome, {}};
  try {
    caller.failure->text = failure.text;
  } catch (const std::bad_alloc&) {
  }
  decide(caller, wakes);
}

Failure Pipeline::failure_here(const StoreError& error) const noexcept try {
  return Failure::of(at(where(), error));
} catch (const std::bad_alloc&) {
  return {error.kind(), error.outcome(), {}};
}

Failure Pipeline::late_here() const noexcept try {
  return failure_here(unavailable("no reply in time"));
} catch (const std::bad_alloc&) {
  return {};
}

// What was written may have been done; what was not, never is.
void Pipeline::fail(Failure failure, Wakes& wakes) noexcept {
  if (failure_) return;
  failure_ = std::move(failure);
  for (Caller* const caller : unacknowledged_) decide(*caller, *failure_, Outcome::unknown, wakes);
  for (const Sent& sent : sent_) {
    if (sent.caller != nullptr) decide(*sent.caller, *failure_, Outcome::unknown, wakes);
  }
  for (Caller* const caller : queued_) {
    decide(*caller, *failure_, Outcome::nothing_happened, wakes);
  }
  unacknowledged_.clear();
  sent_.clear();
  queued_.clear();
  connection_->end();  // A thread that reads or writes notices.
}

void Pipeline::leave(Caller& caller, Wakes& wakes) noexcept {
  Failure late = late_here();
  if (std::erase(queued_, &caller) != 0) {
    return decide(caller, late, Outcome::nothing_happened, wakes);
  }
  std::erase(unacknowledged_, &caller);
  Time sent_at = Time::max();
  for (Sent& sent : sent_) {
    if (sent.caller != &caller) continue;
    sent_at = sent.at;
    sent.caller = nullptr;
  }
  decide(caller, late, Outcome::unknown, wakes);
  if (caller.deadline.is_cut_short() || !is_silent_since(sent_at, timeout_ / 4)) return;
  is_silent_ = true;
  fail(std::move(late), wakes);
}

// Nothing at all was heard since then, which is at least `least` ago.
bool Pipeline::is_silent_since(Time sent, Duration least) const noexcept {
  return heard_ < sent && Deadline::Clock::now() - sent >= least;
}

// Hands what there is to write or read to a caller that waits.
void Pipeline::call_another(Wakes& wakes) noexcept {
  if (!may_write() && !may_read()) return;
  if (Caller* const caller = somebody()) {
    caller->state.store(kCalled, std::memory_order_relaxed);
    wakes.add(*caller);
  }
}

Pipeline::Caller* Pipeline::somebody() const noexcept {
  for (const Sent& sent : sent_) {
    if (sent.caller != nullptr) return sent.caller;
  }
  if (!unacknowledged_.empty()) return unacknowledged_.front();
  return queued_.empty() ? nullptr : queued_.front();
}

Reply Pipeline::ask(const Commands& commands, const Deadline& deadline) {
  return std::move(exchange({.bytes = commands.bytes()}, deadline).replies.front());
}

const std::string& Pipeline::run_id(const Deadline& deadline) {
  {
    const base::LockGuard lock(mutex_);
    if (run_id_) return *run_id_;
  }
  Commands commands;
  commands.add_all({"INFO", "server"});
  const Reply info = ask(commands, deadline);
  const base::LockGuard lock(mutex_);
  if (!run_id_) run_id_ = info.is_error() ? std::string_view() : info_value(info.text(), "run_id");
  return *run_id_;
}

bool Pipeline::is_stale() {
  const base::LockGuard lock(mutex_);
  return sent_.empty() && connection_->is_stale();
}

bool Pipeline::is_broken() {
  const base::LockGuard lock(mutex_);
  if (!failure_ && !sent_.empty() && is_silent_since(sent_.front().at, timeout_)) {
    is_silent_ = true;
    return true;
  }
  return failure_ || connection_->may_evict();
}

bool Pipeline::is_silent() {
  const base::LockGuard lock(mutex_);
  return is_silent_;
}

}  // namespace airlock::redis
