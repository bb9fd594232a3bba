#include "admission/async_entries.hpp"

#include <mutex>
#include <utility>

#include "airlock/error.hpp"
#include "seal/steps.hpp"

namespace airlock::internal {

AsyncEntries& Keeper::async_entries() {
  const std::lock_guard lock(mutex_);
  if (!async_entries_) async_entries_ = AsyncEntries::make(clock(), awaiting_);
  return *async_entries_;
}

// REQUIRES: the mutex.
bool Keeper::is_all_given_back() const {
  return releases_.is_empty() && (!async_entries_ || !async_entries_->is_anybody_leaving());
}

void Keeper::stop_async_entries() noexcept { async_entries_->worker_->stop(); }

std::shared_ptr<AsyncEntries> AsyncEntries::make(Clock& clock, std::shared_ptr<Awaiting> awaiting) {
  auto entries = std::make_shared<AsyncEntries>(clock, std::move(awaiting));
  entries->worker_.emplace("airlock-enter", clock, [weak = std::weak_ptr(entries)] {
    if (const auto self = weak.lock()) self->run();
  });
  return entries;
}

std::unique_ptr<AsyncEntries::Entry> AsyncEntries::joined(const Entering& entering,
                                                          Deliver deliver) {
  auto entry = std::make_unique<Entry>(entering, std::move(deliver));
  entry->attempt.join();
  return entry;
}

AsyncEntries::Ticket AsyncEntries::start(const Entering& entering, Deliver deliver) {
  return attend(joined(entering, std::move(deliver)), entering.ask);
}

AsyncEntries::Ticket AsyncEntries::start_or_deliver(const Entering& entering, Deliver deliver,
                                                    std::shared_ptr<Standing> standing) {
  auto entry = joined(entering, std::move(deliver));
  entry->standing = std::move(standing);
  show_standing(*entry);
  if (!entry->attempt.is_decided()) return attend(std::move(entry), entering.ask);
  std::optional<Arrival> arrival = ask_again(*entry);
  entry->deliver(std::move(*arrival));
  return {};
}

// SealAcquiringError if there can be none; the entry gives back what it has.
void AsyncEntries::start_thread_for(const Entry& entry) {
  try {
    worker_->start();
  } catch (const StoreError& error) {
    entry.client->tell({.kind = Event::Kind::failed, .gate = entry.attempt.gate().view()});
    seal::throw_not_asked(entry.attempt.gate(), error);
  }
}

AsyncEntries::Ticket AsyncEntries::attend(std::unique_ptr<Entry> entry, const Ask& ask) {
  const std::stop_token closing = entry->client->shared_keeper()->closing();
  start_thread_for(*entry);
  Ticket ticket;
  ticket.entries_ = weak_from_this();
  ticket.number_ = entry->number = ++last_;
  entry->on_stop.emplace(ask.stop, waker(entry->number, Why::stop));
  entry->on_close.emplace(closing, waker(entry->number, Why::stop));
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(entry->number);
    try {
      entries_.emplace(entry->number, std::move(entry));
    } catch (...) {
      ready_.pop_back();
      throw;
    }
  }
  worker_->need(Instant{0});
  return ticket;
}

void AsyncEntries::Ticket::cancel() noexcept {
  if (const auto entries = entries_.lock()) entries->ready(number_, Why::cancel);
}

std::function<void()> AsyncEntries::waker(std::uint64_t number, Why why) {
  return [weak = weak_from_this(), number, why] {
    if (const auto self = weak.lock()) self->ready(number, why);
  };
}

void AsyncEntries::show_standing(const Entry& entry) noexcept {
  if (!entry.standing) return;
  entry.standing->position = entry.attempt.position();
  entry.standing->eta = entry.attempt.eta();
}

void AsyncEntries::ready(std::uint64_t number, Why why) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(number);
    if (found == entries_.end()) return;
    Entry& entry = *found->second;
    if (why == Why::news) entry.has_news = true;
    if (why == Why::cancel && !std::exchange(entry.is_cancelled, true)) ++leaving_;
    if (std::exchange(entry.is_ready, true)) return;
    ready_.push_back(number);
  }
  worker_->need(Instant{0});
}

// Those with news, and those whose time has come.
std::vector<AsyncEntries::Entry*> AsyncEntries::collect() {
  const std::lock_guard lock(mutex_);
  std::vector<Entry*> due;
  if (entries_.empty()) {
    worker_->plan(kForever);
    return due;
  }
  for (const std::uint64_t number : std::exchange(ready_, {})) {
    Entry* const entry = entries_.at(number).get();
    if (std::exchange(entry->has_news, false)) entry->attempt.note_news();
    due.push_back(entry);
  }
  const Instant now = clock_.now();
  while (Entry* entry = timers_.due(now)) {
    timers_.clear(*entry);
    if (!std::exchange(entry->is_ready, true)) due.push_back(entry);
  }
  for (Entry* entry : due) {
    timers_.clear(*entry);
    entry->is_ready = false;
  }
  if (due.empty()) worker_->plan(timers_.first());
  return due;
}

void AsyncEntries::run() {
  for (std::vector<Entry*> due = collect(); !due.empty(); due = collect()) {
    for (Entry* entry : due) step(*entry);
  }
}

bool AsyncEntries::is_anybody_leaving() {
  const std::lock_guard lock(mutex_);
  return leaving_ != 0;
}

bool AsyncEntries::is_cancelled(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  return entry.is_cancelled;
}

// Nothing as long as it waits. A failure is handed on outside the catch block: by then this thread
// has let go of the exception, and whoever is told owns it alone.
std::optional<Arrival> AsyncEntries::ask_again(Entry& entry) {
  try {
    if (is_cancelled(entry)) {
      entry.attempt.leave();
      return Outcome<Lease>(Refused{.reason = Reason::late});
    }
    const bool decided = entry.attempt.advance();
    show_standing(entry);
    if (!decided) return std::nullopt;
    return entry.attempt.take();
  } catch (...) {
    return std::current_exception();
  }
}

void AsyncEntries::step(Entry& entry) {
  if (std::optional<Arrival> arrival = ask_again(entry)) return finish(entry, std::move(*arrival));
  if (!entry.attempt.watch(waker(entry.number, Why::news))) return ready(entry.number, Why::news);
  const std::lock_guard lock(mutex_);
  timers_.set(entry, entry.attempt.next());
}

void AsyncEntries::finish(Entry& entry, Arrival arrival) {
  entry.on_stop.reset();
  entry.on_close.reset();
  std::unique_ptr<Entry> done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(entry.number);
    done = std::move(found->second);
    entries_.erase(found);
    std::erase(ready_, done->number);
    timers_.clear(*done);
  }
  // Whoever is called may end everything else that has to do with the store, and its clock with it:
  // nothing of them is kept until after the call.
  const bool was_cancelled = done->is_cancelled;
  const Deliver deliver = std::move(done->deliver);
  done.reset();
  deliver(std::move(arrival));
  if (!was_cancelled) return;
  {
    const std::lock_guard lock(mutex_);
    --leaving_;
  }
  awaiting_->tell();
}

}  // namespace airlock::internal
