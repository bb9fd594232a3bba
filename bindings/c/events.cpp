#include <iterator>
#include <utility>
#include <vector>

#include "mailbox.hpp"

namespace airlock::c {

Events::Item Events::expect(std::uint64_t tag, std::unique_ptr<airlock_lease> lease) {
  auto item = std::make_shared<Expected>(tag);
  item->lease = std::move(lease);
  const std::lock_guard lock(mutex_);
  expected_.push_back(item);
  item->place = std::prev(expected_.end());
  item->by_tag = waits_.end();
  if (item->lease == nullptr) return item;
  try {
    item->by_tag = waits_.emplace(tag, item.get());
  } catch (...) {
    expected_.pop_back();
    throw;
  }
  return item;
}

// Whoever asks for the event gets the exception with it; nobody else has it then.
void Events::arrive(Expected& expected, Arrival& arrival) noexcept {
  std::shared_ptr<const PendingEntry> done;
  const std::lock_guard lock(mutex_);
  if (is_closed_ || expected.state != Expected::State::expected) return;
  done = std::move(expected.pending);
  expected.waited = expected.began.elapsed();
  try {
    Outcome<Lease> outcome = arrival.take();
    if (outcome) {
      expected.kind = AIRLOCK_EVENT_GRANTED;
      expected.lease->lease = *std::move(outcome);
    } else {
      expected.refused = outcome.error();
      const bool left = expected.is_cancelled && expected.refused.reason == Reason::late;
      expected.kind = left ? AIRLOCK_EVENT_CANCELLED : AIRLOCK_EVENT_REFUSED;
    }
  } catch (...) {
    expected.kind = AIRLOCK_EVENT_FAILED;
    (void)status_of_exception(&expected.failure);
  }
  make_ready(expected);
}

void Events::happen(Expected& expected) noexcept {
  const std::lock_guard lock(mutex_);
  if (!is_closed_ && expected.state == Expected::State::expected) make_ready(expected);
}

// REQUIRES: the mutex.
void Events::make_ready(Expected& expected) noexcept {
  forget_tag(expected);
  expected.state = Expected::State::ready;
  ready_.splice(ready_.end(), expected_, expected.place);
  fd_.add_one();
}

// REQUIRES: the mutex.
void Events::forget_tag(Expected& expected) noexcept {
  if (expected.by_tag == waits_.end()) return;
  waits_.erase(expected.by_tag);
  expected.by_tag = waits_.end();
}

void Events::call_off(Expected& expected) noexcept {
  Item ended;
  const std::lock_guard lock(mutex_);
  if (is_closed_ || expected.state == Expected::State::over) return;
  const bool was_ready = expected.state == Expected::State::ready;
  forget_tag(expected);
  ended = *expected.place;
  (was_ready ? ready_ : expected_).erase(expected.place);
  expected.state = Expected::State::over;
  if (was_ready) fd_.take_one();
}

// What has arrived before needs it no more.
void Events::set_pending(Expected& expected, PendingEntry pending) {
  const auto shared = std::make_shared<const PendingEntry>(std::move(pending));
  std::unique_lock lock(mutex_);
  if (is_closed_ || expected.state != Expected::State::expected) return lock.unlock();
  expected.pending = shared;
  const bool is_cancelled = expected.is_cancelled;
  lock.unlock();
  if (is_cancelled) shared->cancel();
}

// A wait that has not begun yet is cancelled when it has.
bool Events::cancel(std::uint64_t tag) {
  std::vector<std::shared_ptr<const PendingEntry>> cancelled;
  std::unique_lock lock(mutex_);
  const auto [first, last] = waits_.equal_range(tag);
  const bool found = first != last;
  cancelled.reserve(static_cast<std::size_t>(std::distance(first, last)));
  for (auto wait = first; wait != last; ++wait) {
    wait->second->is_cancelled = true;
    if (wait->second->pending) cancelled.push_back(wait->second->pending);
  }
  lock.unlock();
  for (const auto& pending : cancelled) pending->cancel();
  return found;
}

Events::Item Events::next() noexcept {
  const std::lock_guard lock(mutex_);
  if (ready_.empty()) return nullptr;
  Item item = std::move(ready_.front());
  ready_.pop_front();
  item->state = Expected::State::over;
  fd_.take_one();
  return item;
}

// The waits end unlocked: each waits for its callback, if that runs.
void Events::close() noexcept {
  std::list<Item> expected;
  std::list<Item> ready;
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  expected.swap(expected_);
  ready.swap(ready_);
  waits_.clear();
}

Watch::Watch(const Lease& lease, std::shared_ptr<Events> events, std::uint64_t tag)
    : events_(std::move(events)), expected_(events_->expect(tag, nullptr)) {
  try {
    on_lost_ = std::make_shared<std::stop_callback<Happen>>(lease.lost(),
                                                            Happen{events_.get(), expected_.get()});
  } catch (...) {
    events_->call_off(*expected_);
    throw;
  }
}

// The destructor of the callback waits until it has run, if it does at the moment.
Watch::~Watch() {
  if (!events_->is_own()) {
    leave_to_parent(std::move(on_lost_));
    leave_to_parent(std::move(expected_));
    leave_to_parent(std::move(events_));
    return;
  }
  on_lost_.reset();
  events_->call_off(*expected_);
}

}  // namespace airlock::c
