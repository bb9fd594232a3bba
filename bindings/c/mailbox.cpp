#include "mailbox.hpp"

#include <unistd.h>

#include <utility>
#include <variant>

using airlock::Airlock;
using airlock::Arrival;
using airlock::Ask;
using airlock::Duration;
using airlock::Lease;
using airlock::Outcome;
using airlock::c::clear;
using airlock::c::Events;
using airlock::c::give;
using airlock::c::made;
using airlock::c::needed;
using airlock::c::options_of;
using airlock::c::run;

std::int32_t airlock_mailbox_open(airlock_mailbox** mailbox, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(mailbox, "mailbox");
    handle = new airlock_mailbox{std::make_shared<Events>()};
    return AIRLOCK_DONE;
  });
}

void airlock_mailbox_free(airlock_mailbox* mailbox) {
  if (mailbox == nullptr) return;
  if (mailbox->events->is_own()) {
    mailbox->events->close();
  } else {
    ::close(mailbox->events->fd());
    airlock::c::leave_to_parent(std::move(mailbox->events));
  }
  delete mailbox;
}

std::int32_t airlock_mailbox_fd(const airlock_mailbox* mailbox) {
  return mailbox != nullptr ? mailbox->events->fd() : -1;
}

namespace {

Events& own_events(airlock_mailbox* mailbox) {
  Events& events = *needed(mailbox, "mailbox").events;
  if (!events.is_own()) {
    throw airlock::InvalidArgument("this mailbox belongs to the parent process: open another one");
  }
  return events;
}

// --- Entering ---

// A wait that began, or what was answered at once.
class Entry {
 public:
  Entry(std::shared_ptr<Events> events, std::uint64_t tag)
      : events_(std::move(events)), tag_(tag) {}

  std::optional<Outcome<Lease>> begin(const Airlock& gate, Duration max_wait, const Ask& ask) {
    try {
      auto begun = gate.begin_enter(max_wait, ask, [this] { return callback(); });
      if (auto* outcome = std::get_if<Outcome<Lease>>(&begun)) return std::move(*outcome);
      events_->set_pending(*item_, std::get<airlock::PendingEntry>(std::move(begun)));
    } catch (...) {
      if (item_) events_->call_off(*item_);
      throw;
    }
    return std::nullopt;
  }

  void post(Arrival arrival) const {
    const Events::Item item = expected();
    events_->arrive(*item, arrival);
  }

 private:
  [[nodiscard]] Events::Item expected() const {
    return events_->expect(tag_, std::make_unique<airlock_lease>());
  }

  Airlock::Callback callback() {
    item_ = expected();
    return [events = events_, item = item_.get()](Arrival& arrival) {
      events->arrive(*item, arrival);
    };
  }

  std::shared_ptr<Events> events_;
  std::uint64_t tag_;
  Events::Item item_;
};

Ask ask_without_signals(const airlock_ask* ask) {
  const auto given = options_of(ask, "ask");
  if (given.interruptible != 0) {
    throw airlock::InvalidArgument("ask.interruptible must be 0 here");
  }
  return airlock::c::ask_of(given);
}

}  // namespace

// What a store failed at becomes an event, wherever it shows.
std::int32_t airlock_enter_async(const airlock_gate* gate, const airlock_ask* ask,
                                 std::int64_t max_wait, airlock_mailbox* mailbox, std::uint64_t tag,
                                 airlock_error* error) {
  return run(error, [&] {
    const Airlock& airlock = needed(gate, "gate").airlock;
    (void)own_events(mailbox);
    Entry entry(mailbox->events, tag);
    try {
      auto outcome = entry.begin(airlock, Duration(max_wait), ask_without_signals(ask));
      if (outcome) entry.post(*std::move(outcome));
    } catch (const airlock::StoreError&) {
      entry.post(std::current_exception());
    }
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_enter_begin(const airlock_gate* gate, const airlock_ask* ask,
                                 std::int64_t max_wait, airlock_mailbox* mailbox, std::uint64_t tag,
                                 airlock_lease** lease, airlock_answer* answer,
                                 airlock_error* error) {
  return run(error, [&]() -> std::int32_t {
    auto& handle = made(lease, "lease");
    airlock::c::clear_if_any(answer, "answer");
    const Airlock& airlock = needed(gate, "gate").airlock;
    (void)own_events(mailbox);
    Entry entry(mailbox->events, tag);
    const airlock::c::Stopwatch watch(answer != nullptr);
    auto outcome = entry.begin(airlock, Duration(max_wait), ask_without_signals(ask));
    if (!outcome) return AIRLOCK_QUEUED;
    return airlock::c::hand_over(*std::move(outcome), watch, handle, answer);
  });
}

std::int32_t airlock_mailbox_cancel(airlock_mailbox* mailbox, std::uint64_t tag,
                                    airlock_error* error) {
  return run(error,
             [&] { return own_events(mailbox).cancel(tag) ? AIRLOCK_DONE : AIRLOCK_NOTHING; });
}

std::int32_t airlock_lease_watch(airlock_lease* lease, airlock_mailbox* mailbox, std::uint64_t tag,
                                 airlock_error* error) {
  return run(error, [&] {
    auto& held = needed(lease, "lease");
    (void)own_events(mailbox);
    if (!held.lease) throw airlock::InvalidArgument("the lease was given back");
    held.watches.push_back(std::make_unique<airlock::c::Watch>(held.lease, mailbox->events, tag));
    return AIRLOCK_DONE;
  });
}

// --- Taking out ---

std::int32_t airlock_mailbox_next(airlock_mailbox* mailbox, airlock_event* event,
                                  airlock_answer* answer, airlock_error* error) {
  return run(error, [&] {
    clear(&needed(event, "event"), "event");
    if (event->size < sizeof *event) airlock::c::throw_size("event", event->size);
    airlock::c::clear_if_any(answer, "answer");
    if (!needed(mailbox, "mailbox").events->is_own()) return AIRLOCK_NOTHING;
    const Events::Item item = mailbox->events->next();
    if (item == nullptr) return AIRLOCK_NOTHING;
    airlock_event result{};
    result.kind = item->kind;
    result.tag = item->tag;
    if (item->kind == AIRLOCK_EVENT_GRANTED) {
      if (answer != nullptr) {
        give(answer, airlock::c::answer_of(item->lease->lease, item->waited));
      }
      result.lease = item->lease.release();
    } else if (item->kind == AIRLOCK_EVENT_REFUSED && answer != nullptr) {
      give(answer, airlock::c::answer_of(item->refused));
    } else if (item->kind == AIRLOCK_EVENT_FAILED) {
      give(error, item->failure);
    }
    give(event, result);
    return AIRLOCK_DONE;
  });
}
