#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "airlock/ask.hpp"
#include "airlock/lease.hpp"
#include "airlock/mailbox.hpp"
#include "airlock/name.hpp"
#include "airlock/observer.hpp"
#include "airlock/outage.hpp"
#include "airlock/outcome.hpp"
#include "airlock/rate.hpp"
#include "airlock/request.hpp"
#include "airlock/store.hpp"
#include "airlock/version.hpp"

namespace airlock {

class Airlock;
class EventIsolation;
namespace internal {
class AdmissionClient;
}

// A place in the line of an airlock, or already the admission. Looked after in the background: it
// does not lose its turn before wait() is called. When it goes out of scope it leaves, or gives
// back, in the background too. In a forked child it is the parent's, and refused.
//
//   Place place = airlock.join();        // Here, in order of arrival,
//   pool.post([place = std::move(place)]() mutable {
//     Outcome<Lease> lease = place.wait();   // there, whenever it is its turn.
//   });
class AIRLOCK_EXPORT Place {
 public:
  Place(Place&& other) noexcept;
  Place& operator=(Place&& other) noexcept;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place();

  // Waits as long as join() said, counted from there. The second time, and after
  // leave(), it is refused as late.
  Outcome<Lease> wait();

  // 1: next, as of the last time it was asked. 0: not in the line.
  [[nodiscard]] std::uint32_t position() const noexcept;

  // The expected wait, as of then: people ahead times the mean interval between grants. 0: not
  // known, or not in the line.
  [[nodiscard]] Duration eta() const noexcept;

  void leave() noexcept;

 private:
  friend class Airlock;
  friend class EventIsolation;
  struct State;
  Place(const std::shared_ptr<internal::AdmissionClient>& client, const GateName& gate,
        const Ask& ask, Duration max_wait);

  std::shared_ptr<State> state_;
};

struct AirlockOptions {
  std::uint32_t limit = 0;                          // How much may be inside. 0: the rates decide.
  AnyDuration ttl = std::chrono::seconds(30);       // A holder that vanished is out after this.
  AnyDuration max_wait = std::chrono::seconds(10);  // Of enter(), join() and enter_async().
  AnyDuration max_hold = kForever;                  // A lease is not renewed beyond this.
  std::vector<Rate> rates = {};                     // Every tier must pass, too.
  Order order = Order::fifo;
  Aging aging = {};               // Order::aging_lottery.
  bool exclusive = false;         // A lock: operators may lower the limit, never raise it.
  bool barging = false;           // Enter past the line when there is room.
  std::uint32_t max_waiting = 0;  // A longer line refuses. 0: no bound.
  bool refuse_late = false;       // Refuse at once when the expected wait exceeds max_wait.
  // A waiter that stopped asking is gone after this.
  AnyDuration patience = std::chrono::seconds(10);
  // A hand-over waits so long for its claim: 1 s, for visitors with an id, who come and go, 10 s.
  std::optional<AnyDuration> claim_window = {};
  Outage outage = Outage::closed;
  std::uint32_t local_limit = 1;  // Outage::local.
  AnyObserver observer = {};
};

// What enter_async() has come to.
class AIRLOCK_EXPORT Arrival {
 public:
  Arrival(Outcome<Lease> outcome) noexcept : outcome_(std::move(outcome)) {}      // NOLINT
  Arrival(std::exception_ptr failure) noexcept : failure_(std::move(failure)) {}  // NOLINT

  // Returns what enter() would have returned, or throws what it would have thrown. Once.
  [[nodiscard]] Outcome<Lease> take();

 private:
  std::optional<Outcome<Lease>> outcome_;
  std::exception_ptr failure_;
};

// A wait that begin_enter() started, and its callback.
//
// At the end of its scope the callback neither runs nor will run, and the place is given up; a grant
// that arrives later is given back. The destructor waits for a callback that is running on another
// thread. Move-only. In a forked child it is the parent's and does nothing.
class AIRLOCK_EXPORT PendingEntry {
 public:
  PendingEntry() noexcept;
  PendingEntry(PendingEntry&& other) noexcept;
  PendingEntry& operator=(PendingEntry&& other) noexcept;
  PendingEntry(const PendingEntry&) = delete;
  PendingEntry& operator=(const PendingEntry&) = delete;
  ~PendingEntry();

  // Leaves the line: the callback is soon called with a refusal, Reason::late. Nothing if it was
  // called already. From any thread.
  void cancel() const noexcept;

 private:
  friend class Airlock;
  struct State;
  void end() noexcept;

  std::shared_ptr<State> state_;
};

// What claim() found for a visitor.
struct Claim {
  enum class Status : std::uint8_t {
    claimed,      // It is in, and the token is its own.
    unavailable,  // It is not its turn: the place is kept.
    missed,       // It has no place, or not any more.
  };

  Status status = Status::missed;
  std::optional<Granted> granted = {};  // claimed
  std::optional<Queued> queued = {};    // unavailable
};

// A gate with a line in front of it: waits for its turn instead of asking again and again.
//
//   Airlock erp{store, "legacy-erp", {.limit = 10}};
//   if (auto lease = erp.try_enter_for(2s)) query(lease->fence());
//
// A refusal is an answer. What throws: InvalidArgument for wrong options, when it is made;
// SealAcquiringError when the store failed and the outage policy is `closed`; a StoreError of kind
// closed after Store::close(). Copies are the same airlock; any thread may use it, also after fork().
class AIRLOCK_EXPORT Airlock {
 public:
  Airlock(const Store& store, const GateName& gate, const AirlockOptions& options);
  Airlock(const Airlock&);
  Airlock& operator=(const Airlock&);
  ~Airlock();

  [[nodiscard]] const GateName& gate() const noexcept { return gate_; }

  // One question, no waiting.
  [[nodiscard]] Outcome<Lease> try_enter(const Ask& ask = {}) const;

  // Waits for its turn, at most so long (0 or less: one question), or for `max_wait` of the options.
  // Who runs out of time, or is stopped, leaves the line: Reason::late.
  [[nodiscard]] Outcome<Lease> try_enter_for(AnyDuration max_wait, const Ask& ask = {}) const;
  [[nodiscard]] Outcome<Lease> enter(const Ask& ask = {}) const;

  // Never blocks. Takes the place, in the order of the calls, and calls back when it is decided, at
  // the latest when its time is up: on the thread `airlock-enter`, one after the other, or where the
  // mailbox is run. A callback that throws is counted with the observers, and gives back what it got.
  using Callback = std::function<void(Arrival&)>;
  void enter_async(const Ask& ask, Callback callback) const;
  void enter_async(const Ask& ask, Callback callback, const Mailbox& mailbox) const;
  void enter_async_for(AnyDuration max_wait, const Ask& ask, Callback callback) const;
  void enter_async_for(AnyDuration max_wait, const Ask& ask, Callback callback,
                       const Mailbox& mailbox) const;

  // What airlock/coro.hpp and airlock/asio.hpp are built on. Like enter_async_for() (no time: for
  // `max_wait` of the options), but a store that never blocks (memory:, shm:) is asked here, and
  // what that decides is returned without an allocation. Otherwise `make_callback` is called, and
  // what it returns is called back once, on `airlock-enter`.
  [[nodiscard]] std::variant<Outcome<Lease>, PendingEntry> begin_enter(
      std::optional<AnyDuration> max_wait, const Ask& ask,
      const std::function<Callback()>& make_callback) const;

  // Takes the place now and waits later, elsewhere.
  [[nodiscard]] Place join(const Ask& ask = {}) const;
  [[nodiscard]] Place join_for(AnyDuration max_wait, const Ask& ask = {}) const;

  // For visitors that are not connected all the time, as browsers: they have an id instead of a
  // thread, and any process may ask for them with it. What they get is a detached token: its ttl
  // ends it unless Lease::adopt() or Store::renew() does something about it. Neither max_hold nor
  // the outage policy applies. docs/recipes.md has a waiting room.
  //
  // A new visitor is in, gets a place or is refused; another finds what it has, as with
  // Store::admit().
  [[nodiscard]] Answer admit(const VisitorId& visitor, const Ask& ask = {}) const;

  // The same for a visitor that has a place, and nothing for one that has none: takes up what was
  // handed over to it.
  [[nodiscard]] Claim claim(const VisitorId& visitor) const;

  // Gives up the place, or what was handed over. False: it had neither. StoreError.
  bool leave(const VisitorId& visitor) const;

  // It does not listen at the moment: passed over until it asks again (Store::mark_absent).
  bool mark_absent(const VisitorId& visitor) const;

  // Runs `work(Lease&)` inside and returns what it returns.
  template <typename Work>
  [[nodiscard]] auto with_admitted(const Ask& ask, Work&& work) const
      -> Outcome<std::invoke_result_t<Work, Lease&>> {
    Outcome<Lease> lease = enter(ask);
    if (!lease) return lease.error();
    if constexpr (std::is_void_v<std::invoke_result_t<Work, Lease&>>) {
      std::invoke(std::forward<Work>(work), *lease);
      return {};
    } else {
      return std::invoke(std::forward<Work>(work), *lease);
    }
  }

 private:
  std::shared_ptr<internal::AdmissionClient> client_;
  GateName gate_;
};

}  // namespace airlock
