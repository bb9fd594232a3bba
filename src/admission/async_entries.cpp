#include "admission/async_entries.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "airlock/error.hpp"
#include "seal/steps.hpp"

namespace airlock::internal {

AsyncEntries& Keeper::async_entries() {
  const base::LockGuard lock(mutex_);
  if (!async_entries_) async_entries_ = AsyncEntries::make(*store_, awaiting_);
  return *async_entries_;
}

bool Keeper::is_all_given_back() const {
  return releases_.is_empty() && (!async_entries_ || !async_entries_->is_anybody_leaving());
}

void Keeper::stop_async_entries() noexcept { async_entries_->stop(); }

void AsyncEntries::stop() noexcept {
  for (Lane& lane : lanes_) {
    if (lane.worker) lane.worker->stop();
  }
  worker_->stop();
}

std::shared_ptr<AsyncEntries> AsyncEntries::make(Backend& store,
                                                 std::shared_ptr<Awaiting> awaiting) {
  auto entries = std::make_shared<AsyncEntries>(store, std::move(awaiting));
  entries->worker_.emplace("airlock-enter", entries->clock_, [weak = std::weak_ptr(entries)] {
    if (const auto self = weak.lock()) self->run();
  });
  return entries;
}

// --- beginning ---

AsyncEntries::Ticket AsyncEntries::start(const Entering& entering, Deliver deliver) {
  const auto entry = std::make_shared<Entry>(entering, std::move(deliver));
  if (is_local_) {
    (void)entry->attempt.try_join();
  } else {
    entry->attempt.check();
  }
  return attend(entry, entering.ask);
}

AsyncEntries::Ticket AsyncEntries::start_or_deliver(const Entering& entering, Deliver deliver,
                                                    std::shared_ptr<Standing> standing) {
  const auto entry = std::make_shared<Entry>(entering, std::move(deliver));
  entry->attempt.join();
  entry->standing = std::move(standing);
  show_standing(*entry);
  if (!entry->attempt.is_decided()) return attend(entry, entering.ask);
  std::optional<Arrival> arrival = answer_to(*entry, nullptr);
  entry->deliver(std::move(*arrival));
  return {};
}

AsyncEntries::Ticket AsyncEntries::go_on(const Entering& entering, Attempt attempt,
                                         Deliver deliver) {
  return attend(std::make_shared<Entry>(entering, std::move(attempt), std::move(deliver)),
                entering.ask);
}

std::uint64_t AsyncEntries::server_of(const Entry& entry) const noexcept try {
  return servers_ != nullptr ? servers_->server_of(entry.attempt.gate()) : 0;
} catch (const std::exception&) {
  return 0;
}

// One that nobody uses any more serves another server.
AsyncEntries::Lane& AsyncEntries::lane_of(std::uint64_t server) {
  Lane* unused = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.server == server) return lane;
    if (lane.entries == 0) unused = &lane;
  }
  if (unused == nullptr) {
    unused = &lanes_.emplace_back();
    if (!is_local_) {
      unused->worker.emplace("airlock-ask", clock_, [weak = weak_from_this(), unused] {
        if (const auto self = weak.lock()) self->ask_all(*unused);
      });
    }
  }
  unused->server = server;
  return *unused;
}

Worker& AsyncEntries::worker_of(Lane& lane) noexcept {
  return lane.worker ? *lane.worker : *worker_;
}

// SealAcquiringError if there can be none; the entry gives back what it has.
void AsyncEntries::start_threads_for(const Entry& entry) {
  try {
    worker_->start();
    worker_of(*entry.lane).start();
  } catch (const StoreError& error) {
    entry.client->tell({.kind = Event::Kind::failed, .gate = entry.attempt.gate().view()});
    seal::throw_not_asked(entry.attempt.gate(), error);
  }
}

AsyncEntries::Ticket AsyncEntries::attend(const EntryPtr& entry, const Ask& ask) {
  const std::stop_token closing = entry->client->shared_keeper()->closing();
  const std::uint64_t server = server_of(*entry);
  {
    const base::LockGuard lock(mutex_);
    entry->lane = &lane_of(server);
    ++entry->lane->entries;
  }
  Ticket ticket;
  ticket.entries_ = weak_from_this();
  ticket.number_ = entry->number = ++last_;
  try {
    start_threads_for(*entry);
    if (!is_local_) entry->attempt.leave_later();
    entry->on_stop.emplace(ask.stop, waker(entry->number));
    entry->on_close.emplace(closing, waker(entry->number));
    enlist(entry);
  } catch (...) {
    const base::LockGuard lock(mutex_);
    --entry->lane->entries;
    throw;
  }
  return ticket;
}

// From now on the threads work on it. What would have woken it before did not find it.
void AsyncEntries::enlist(const EntryPtr& entry) {
  const base::LockGuard lock(mutex_);
  entries_.emplace(entry->number, entry);
  try {
    timers_.set(*entry, end_of(*entry));
    entry->lane->ready.push_back(entry->number);
  } catch (...) {
    timers_.clear(*entry);
    entries_.erase(entry->number);
    throw;
  }
  (void)worker_->try_need(timers_.first());
  (void)worker_of(*entry->lane).try_need(Instant{0});
}

// --- what wakes an entry ---

void AsyncEntries::Ticket::cancel() noexcept {
  if (const auto entries = entries_.lock()) entries->cancel(number_);
}

void AsyncEntries::cancel(std::uint64_t number) {
  const base::LockGuard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end() || std::exchange(found->second->is_cancelled, true)) return;
  ++leaving_;
  judge_soon(*found->second);
}

// It is stopped, or the store is being closed.
std::function<void()> AsyncEntries::waker(std::uint64_t number) {
  return [weak = weak_from_this(), number] {
    if (const auto self = weak.lock()) self->wake(number);
  };
}

void AsyncEntries::wake(std::uint64_t number) {
  const base::LockGuard lock(mutex_);
  const auto found = entries_.find(number);
  if (found != entries_.end()) judge_soon(*found->second);
}

std::function<void()> AsyncEntries::news(std::uint64_t number) {
  return [weak = weak_from_this(), number] {
    if (const auto self = weak.lock()) self->note_news(number);
  };
}

void AsyncEntries::note_news(std::uint64_t number) {
  const base::LockGuard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  found->second->has_news = true;
  make_ready(*found->second);
}

// Later, if somebody works on it at the moment (park).
void AsyncEntries::judge_soon(Entry& entry) {
  timers_.set(entry, Instant{0});
  (void)worker_->try_need(Instant{0});
}

void AsyncEntries::make_ready(Entry& entry) {
  if (entry.state != Entry::State::waiting || std::exchange(entry.is_ready, true)) return;
  entry.lane->ready.push_back(entry.number);
  (void)worker_of(*entry.lane).try_need(Instant{0});
}

// When it is over at the latest; what is decided only waits to be handed on.
Instant AsyncEntries::end_of(const Entry& entry) {
  if (entry.is_cancelled) return Instant{0};
  if (entry.attempt.is_decided()) return kForever;
  return entry.attempt.is_stopped() ? Instant{0} : entry.attempt.deadline();
}

// --- airlock-enter ---

void AsyncEntries::run() {
  for (Due due = collect(); !due.arrived.empty() || !due.to_ask.empty(); due = collect()) {
    for (Arrived& arrived : due.arrived) call_back(std::move(arrived));
    for (const EntryPtr& entry : due.to_ask) ask({entry});
  }
}

AsyncEntries::Due AsyncEntries::collect() {
  const base::LockGuard lock(mutex_);
  Due due;
  due.arrived.swap(arrived_);
  if (entries_.empty()) {  // And the clock perhaps gone.
    if (due.arrived.empty()) worker_->plan(kForever);
    return due;
  }
  const Instant now = clock_.now();
  while (Entry* const entry = timers_.due(now)) judge(*entry, now, due);
  if (is_local_) due.to_ask = take_ready(lanes_.front());
  if (due.arrived.empty() && due.to_ask.empty()) worker_->plan(timers_.first());
  return due;
}

// What becomes of an entry whose time has come: it asks again, gets a last moment, or is over.
void AsyncEntries::judge(Entry& entry, Instant now, Due& due) {
  using State = Entry::State;
  timers_.clear(entry);
  if (entry.state == State::busy) return;  // It is judged when that is over.
  const Instant end = end_of(entry);
  if (now < end) {
    timers_.set(entry, end);
    return make_ready(entry);
  }
  const bool may_still_come = entry.state == State::asking || entry.has_news;
  if (may_still_come && !entry.is_cancelled) {
    entry.last_moment = std::min(entry.last_moment, now + kLastMoment);
    if (now < entry.last_moment) return timers_.set(entry, entry.last_moment);
  }
  const bool was_asking = entry.state == State::asking;
  if (was_asking && !entry.is_cancelled) ++leaving_;
  due.arrived.push_back({.entry = take_out(entry), .arrival = {}, .was_asking = was_asking});
}

AsyncEntries::EntryPtr AsyncEntries::take_out(Entry& entry) {
  const auto found = entries_.find(entry.number);
  EntryPtr taken = std::move(found->second);
  entries_.erase(found);
  timers_.clear(entry);
  if (entry.state != Entry::State::asking) --entry.lane->entries;
  entry.state = Entry::State::over;
  return taken;
}

// What an entry is told that was not decided in time. A failure is handed on outside the catch block: by
// then this thread has let go of the exception, and whoever is told owns it alone.
Arrival AsyncEntries::too_late(const Entry& entry) {
  if (entry.is_cancelled) return Outcome<Lease>(Refused{.reason = Reason::late});
  try {
    return entry.attempt.too_late();
  } catch (...) {
    return std::current_exception();
  }
}

// Whoever is called may end everything else that has to do with the store, and its clock with it:
// nothing of them is kept until after the call.
void AsyncEntries::call_back(Arrived arrived) {
  EntryPtr entry = std::move(arrived.entry);
  entry->on_stop.reset();
  entry->on_close.reset();
  if (!arrived.arrival) {
    arrived.arrival = too_late(*entry);
    if (!arrived.was_asking) entry->attempt.leave();
  }
  const bool has_left = entry->is_cancelled && !arrived.was_asking;
  const Deliver deliver = std::move(entry->deliver);
  entry.reset();
  deliver(std::move(*arrived.arrival));
  if (has_left) note_left();
}

void AsyncEntries::note_left() {
  {
    const base::LockGuard lock(mutex_);
    --leaving_;
  }
  awaiting_->tell();
}

bool AsyncEntries::is_anybody_leaving() {
  const base::LockGuard lock(mutex_);
  return leaving_ != 0;
}

}  // namespace airlock::internal
