#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <vector>

#include "admission/attempt.hpp"
#include "admission/timers.hpp"
#include "admission/worker.hpp"
#include "airlock/airlock_gate.hpp"
#include "base/mutex.hpp"

namespace airlock::internal {

// Where an entry stands in its line, to be looked at from any thread.
struct Standing {
  std::atomic<std::uint32_t> position = 0;
  std::atomic<Duration> eta = Duration(0);
};

// Everybody of this process who waits at a store without a thread of its own. One thread,
// `airlock-enter`, asks for them when there is news or it is time.
class AsyncEntries : public std::enable_shared_from_this<AsyncEntries> {
 public:
  using Deliver = std::function<void(Arrival)>;

  // `awaiting` is told when somebody has left.
  [[nodiscard]] static std::shared_ptr<AsyncEntries> make(Clock& clock,
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

  // Takes the place and calls `deliver` once, on the thread, when it is decided. `standing` is kept
  // up to date, if there is one.
  Ticket start(const Entering& entering, Deliver deliver);

  // The same for a caller that may be answered at once: what is decided by the first question is
  // delivered before this returns, and needs no thread.
  Ticket start_or_deliver(const Entering& entering, Deliver deliver,
                          std::shared_ptr<Standing> standing);

  // Whether something is given up and not yet out of the line or given back.
  [[nodiscard]] bool is_anybody_leaving();

  AsyncEntries(Clock& clock, std::shared_ptr<Awaiting> awaiting) noexcept
      : clock_(clock), awaiting_(std::move(awaiting)) {}

 private:
  friend class Keeper;

  struct Entry {
    Entry(const Entering& entering, Deliver how)
        : client(entering.client),
          attempt(*client, entering.gate, entering.ask, entering.max_wait),
          deliver(std::move(how)) {}

    std::shared_ptr<AdmissionClient> client;
    Attempt attempt;
    Deliver deliver;
    std::uint64_t number = 0;
    bool is_ready = true;
    bool has_news = false;
    bool is_cancelled = false;
    std::shared_ptr<Standing> standing;
    Timer timer;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
    std::optional<std::stop_callback<std::function<void()>>> on_close;
  };

  [[nodiscard]] static std::unique_ptr<Entry> joined(const Entering& entering, Deliver deliver);
  [[nodiscard]] Ticket attend(std::unique_ptr<Entry> entry, const Ask& ask);
  void start_thread_for(const Entry& entry);
  void run();
  [[nodiscard]] std::vector<Entry*> collect();
  [[nodiscard]] std::optional<Arrival> ask_again(Entry& entry);
  void step(Entry& entry);
  [[nodiscard]] bool is_cancelled(const Entry& entry);
  void finish(Entry& entry, Arrival arrival);
  enum class Why { news, stop, cancel };
  void ready(std::uint64_t number, Why why);
  [[nodiscard]] std::function<void()> waker(std::uint64_t number, Why why);
  static void show_standing(const Entry& entry) noexcept;

  Clock& clock_;
  const std::shared_ptr<Awaiting> awaiting_;
  base::Mutex mutex_;
  std::size_t leaving_ = 0;
  std::atomic<std::uint64_t> last_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Entry>> entries_;
  std::vector<std::uint64_t> ready_;
  Timers<Entry, &Entry::timer> timers_;
  std::optional<Worker> worker_;
};

}  // namespace airlock::internal
