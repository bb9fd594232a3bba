#pragma once

#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "internal.hpp"

namespace airlock::c {

// What will be one event: a wait for entry, or a lease that is watched. Everything that the event needs is there
// from the beginning, so that it cannot be lost for want of memory.
struct Expected {
  using Place = std::list<std::shared_ptr<Expected>>::iterator;

  enum class State : std::uint8_t {
    expected,
    ready,  // An event.
    over,   // Taken out, or called off.
  };

  explicit Expected(std::uint64_t named) : tag(named), began(true) {}

  const std::uint64_t tag;
  const Stopwatch began;
  State state = State::expected;
  bool is_cancelled = false;
  Place place = {};
  std::multimap<std::uint64_t, Expected*>::iterator by_tag = {};
  std::shared_ptr<const PendingEntry> pending;  // Cancelled and ended unlocked.

  // The event.
  std::int32_t kind = AIRLOCK_EVENT_LOST;
  std::unique_ptr<airlock_lease> lease;
  Refused refused;
  Duration waited{0};
  airlock_error failure = AIRLOCK_ERROR_INIT;  // Not the exception: its thread destroys it.
};

// The events of a mailbox and what will be one, also after the handle is freed. Any thread.
class Events {
 public:
  using Item = std::shared_ptr<Expected>;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool is_own() const noexcept { return generation_ == process_generation(); }

  // It becomes an event: never after close() or call_off().
  [[nodiscard]] Item expect(std::uint64_t tag, std::unique_ptr<airlock_lease> lease);
  void arrive(Expected& expected, Arrival& arrival) noexcept;
  void happen(Expected& expected) noexcept;
  void call_off(Expected& expected) noexcept;

  // Of a wait. False: it has arrived.
  void set_pending(Expected& expected, PendingEntry pending);
  bool cancel(std::uint64_t tag);

  [[nodiscard]] Item next() noexcept;  // Null: there is none.
  void close() noexcept;

 private:
  void make_ready(Expected& expected) noexcept;
  void forget_tag(Expected& expected) noexcept;

  const std::uint64_t generation_ = process_generation();
  const EventFd fd_;
  std::mutex mutex_;
  bool is_closed_ = false;
  std::list<Item> expected_;
  std::list<Item> ready_;
  std::multimap<std::uint64_t, Expected*> waits_;  // Of those expected, the waits for entry.
};

// Has the loss of a lease become an event, while it lives.
class Watch {
 public:
  Watch(const Lease& lease, std::shared_ptr<Events> events, std::uint64_t tag);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

 private:
  struct Happen {
    Events* events;
    Expected* expected;
    void operator()() const noexcept { events->happen(*expected); }
  };

  std::shared_ptr<Events> events_;
  Events::Item expected_;
  std::shared_ptr<std::stop_callback<Happen>> on_lost_;
};

}  // namespace airlock::c

struct airlock_mailbox {
  std::shared_ptr<airlock::c::Events> events;
};
