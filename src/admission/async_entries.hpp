#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <vector>

#include "admission/admission_client.hpp"
#include "admission/attempt.hpp"
#include "admission/timers.hpp"
#include "admission/worker.hpp"
#include "airlock/airlock_gate.hpp"
#include "base/locks.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace airlock::internal {

// Where an entry stands in its line, to be looked at from any thread.
struct Standing {
  std::atomic<std::uint32_t> position = 0;
  std::atomic<Duration> eta = Duration(0);
};

// Everybody of this process who waits at a store without a thread of its own.
//
// The thread `airlock-enter` calls back and watches the time. Where a question may have to wait for the
// network it is asked elsewhere, by the threads `airlock-ask`, one per server, each of which asks for all
// that are due in one round trip: a server that does not answer delays neither those who ask at another
// nor the end of anybody's wait.
class AsyncEntries : public std::enable_shared_from_this<AsyncEntries> {
 public:
  using Deliver = std::function<void(Arrival)>;

  // `awaiting` is told when somebody has left.
  [[nodiscard]] static std::shared_ptr<AsyncEntries> make(Backend& store,
                                                          std::shared_ptr<Awaiting> awaiting);

  // Gives an entry up: out of the line, or back what it got before it is delivered.
  class Ticket {
   public:
    Ticket() = default;
    void cancel() noexcept;

   private:
    friend class AsyncEntries;
    std::weak_ptr<AsyncEntries> entries_;
    std::uint64_t number_ = 0;
  };

  // Who wants in where, and for how long it waits.
  struct Entering {
    std::shared_ptr<AdmissionClient> client;
    const GateName& gate;
    const Ask& ask;
    Duration max_wait;
  };

  // Calls `deliver` once, on airlock-enter, when it is decided. Never blocks: the place is taken before
  // this returns if the store is local and not busy, and else in the order of these calls. Throws what
  // needs no question (Attempt::check).
  Ticket start(const Entering& entering, Deliver deliver);

  // The same for a caller that may be answered at once: what is decided by the first question is
  // delivered before this returns, and needs no thread. `standing` is kept up to date.
  Ticket start_or_deliver(const Entering& entering, Deliver deliver,
                          std::shared_ptr<Standing> standing);

  // The same for one that has asked already, and waits.
  Ticket go_on(const Entering& entering, Attempt attempt, Deliver deliver);

  // Whether something is given up and not yet out of the line or given back.
  [[nodiscard]] bool is_anybody_leaving() AIRLOCK_EXCLUDES(mutex_);

  // Ends its threads. Nothing is started any more, so no lane is added either.
  void stop() noexcept AIRLOCK_NO_THREAD_SAFETY_ANALYSIS;

  AsyncEntries(Backend& store, std::shared_ptr<Awaiting> awaiting) noexcept
      : store_(store),
        servers_(dynamic_cast<Servers*>(&store)),
        clock_(store.clock()),
        is_local_(store.is_local()),
        awaiting_(std::move(awaiting)) {}

 private:
  struct Lane;

  struct Entry {
    Entry(const Entering& entering, Deliver how)
        : client(entering.client),
          attempt(*client, entering.gate, entering.ask, entering.max_wait),
          deliver(std::move(how)) {}
    Entry(const Entering& entering, Attempt&& begun, Deliver how)
        : client(entering.client), attempt(std::move(begun)), deliver(std::move(how)) {}

    // State, lane and what follows are guarded by the mutex of AsyncEntries. waiting: for news, for its time, or (is_ready) for the thread that asks. busy: that thread works on
    // the attempt. asking: that thread waits for the store, and the attempt does not change; it may be
    // decided meanwhile that this takes too long (over).
    enum class State { waiting, busy, asking, over };

    std::shared_ptr<AdmissionClient> client;
    Attempt attempt;
    Deliver deliver;
    std::shared_ptr<Standing> standing;
    std::uint64_t number = 0;
    Lane* lane = nullptr;
    State state = State::waiting;
    bool is_ready = true;
    bool has_news = false;
    bool is_cancelled = false;
    Instant last_moment = kForever;  // Once its time is up and an answer may still come.
    Timer timer;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
    std::optional<std::stop_callback<std::function<void()>>> on_close;
  };
  using EntryPtr = std::shared_ptr<Entry>;

  // Those who ask at one server.
  struct Lane {
    std::uint64_t server = 0;
    std::size_t entries = 0;
    bool has_asked = false;
    std::deque<std::uint64_t> ready;
    std::optional<Worker> worker;  // None where airlock-enter asks.
  };

  // An answer that is on its way when the time is up may take so much longer.
  static constexpr Duration kLastMoment = std::chrono::milliseconds(25);

  struct Arrived {
    EntryPtr entry;  // Until it is called back, so that there is somebody to do so.
    std::optional<Arrival> arrival = {};  // None: it was not decided in time.
    bool was_asking = false;
  };

  // What airlock-enter has to do.
  struct Due {
    std::vector<Arrived> arrived;
    std::vector<EntryPtr> to_ask;
  };

  [[nodiscard]] Ticket attend(const EntryPtr& entry, const Ask& ask);
  void start_threads_for(const Entry& entry);
  void enlist(const EntryPtr& entry) AIRLOCK_EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t server_of(const Entry& entry) const noexcept;
  [[nodiscard]] Lane& lane_of(std::uint64_t server) AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] Worker& worker_of(Lane& lane) noexcept;

  void cancel(std::uint64_t number) AIRLOCK_EXCLUDES(mutex_);
  void wake(std::uint64_t number) AIRLOCK_EXCLUDES(mutex_);
  void note_news(std::uint64_t number) AIRLOCK_EXCLUDES(mutex_);
  [[nodiscard]] std::function<void()> waker(std::uint64_t number);
  [[nodiscard]] std::function<void()> news(std::uint64_t number);
  void judge_soon(Entry& entry) AIRLOCK_REQUIRES(mutex_);
  void make_ready(Entry& entry) AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] static Instant end_of(const Entry& entry);

  void run();  // airlock-enter
  [[nodiscard]] Due collect() AIRLOCK_EXCLUDES(mutex_);
  void judge(Entry& entry, Instant now, Due& due) AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] EntryPtr take_out(Entry& entry) AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] static Arrival too_late(const Entry& entry);
  void call_back(Arrived arrived);
  void note_left() AIRLOCK_EXCLUDES(mutex_);

  void ask_all(Lane& lane);  // airlock-ask; async_asking.cpp
  [[nodiscard]] std::vector<EntryPtr> take_ready(Lane& lane) AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] bool is_moved(Entry& entry) noexcept AIRLOCK_REQUIRES(mutex_);
  void ask(const std::vector<EntryPtr>& entries);
  [[nodiscard]] static std::exception_ptr begin(Entry& entry, std::vector<AdmitItem>& items);
  void send(const std::vector<EntryPtr>& asking, std::vector<AdmitItem>& items);
  void may_be_late(const std::vector<EntryPtr>& entries);
  [[nodiscard]] static std::optional<Arrival> answer_to(Entry& entry, AdmitItem* item);
  static void show_standing(const Entry& entry) noexcept;
  void take_in(const EntryPtr& entry, std::optional<Arrival> arrival,
               std::vector<EntryPtr>& waiting);
  [[nodiscard]] bool has_news(const Entry& entry);
  void park(Entry& entry);
  void abandon(Entry& entry, const AdmitItem& item);

  Backend& store_;
  Servers* const servers_;  // Of the store; null: it has but one.
  Clock& clock_;
  const bool is_local_;
  const std::shared_ptr<Awaiting> awaiting_;
  base::Mutex mutex_;
  std::size_t leaving_ AIRLOCK_GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t> last_ = 0;
  std::unordered_map<std::uint64_t, EntryPtr> entries_ AIRLOCK_GUARDED_BY(mutex_);
  std::deque<Lane> lanes_ AIRLOCK_GUARDED_BY(mutex_);
  std::vector<Arrived> arrived_ AIRLOCK_GUARDED_BY(mutex_);  // To be called back.
  Timers<Entry, &Entry::timer> timers_ AIRLOCK_GUARDED_BY(mutex_);
  std::optional<Worker> worker_;
};

}  // namespace airlock::internal
