#include <poll.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "airlock/airlock_gate.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/mailbox.hpp"
#include "rows.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

class EmptyCall final : public Subject {
 public:
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) bulkhead_.call([this] { ++calls_; });
  }
  void check(std::uint64_t operations) override {
    require(calls_ == operations, "the callable ran every time");
    require(bulkhead_.available_slots() == 10, "nothing is left inside");
  }

 private:
  Bulkhead bulkhead_{open_store("memory:"), "erp", {.limit = 10, .ttl = kLong}};
  std::uint64_t calls_ = 0;
};

// The same without bulkhead, keeper and lease: what such a caller would write against the store.
class AcquireRelease final : public Subject {
 public:
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      request_.visitor = VisitorId::random();
      const Answer answer = store_.admit(request_);
      if (store_.release(std::get<Granted>(answer).token)) ++calls_;
    }
  }
  void check(std::uint64_t operations) override {
    require(calls_ == operations, "every admission was given back");
  }

 private:
  Store store_ = open_store("memory:");
  Request request_{.gate = "erp", .visitor = {}, .permits = permits(10)};
  std::uint64_t calls_ = 0;
};

// Two threads that have the turn one after the other; one operation is one hand-over.
template <typename Turn>
class Alternate final : public Subject {
 public:
  void run(std::uint64_t operations) override {
    std::jthread other([&] { turn_.play(1, operations / 2); });
    turn_.play(0, operations - operations / 2);
  }
  void check(std::uint64_t operations) override {
    require(turn_.turns() == operations, "as many turns as operations");
  }

 private:
  Turn turn_;
};

// Through the line of an airlock: who is inside goes when the other stands in line.
class AirlockTurn {
 public:
  void play(int /*who*/, std::uint64_t turns) {
    for (std::uint64_t i = 0; i < turns; ++i) {
      const Outcome<Lease> lease = airlock_.enter();
      require(lease.has_value(), "everybody comes in");
      ++turns_;
      while (!alone_ && store_.counts(std::span(&airlock_.gate(), 1)).front().waiting == 0) {
        std::this_thread::yield();
      }
    }
    alone_ = !alone_;
  }
  [[nodiscard]] std::uint64_t turns() const { return turns_; }

 private:
  Store store_ = open_store("memory:");
  Airlock airlock_{store_, "erp", {.limit = 1, .ttl = kLong, .max_wait = kLong}};
  std::uint64_t turns_ = 0;          // Of whoever is inside.
  std::atomic<bool> alone_ = false;  // The other one is done.
};

class ConditionTurn {
 public:
  void play(int who, std::uint64_t turns) {
    for (std::uint64_t i = 0; i < turns; ++i) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return next_ == who || alone_; });
      ++turns_;
      next_ = 1 - who;
      changed_.notify_one();
    }
    const std::lock_guard lock(mutex_);
    alone_ = !alone_;
    changed_.notify_one();
  }
  [[nodiscard]] std::uint64_t turns() const { return turns_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int next_ = 0;
  bool alone_ = false;  // The other one is done.
  std::uint64_t turns_ = 0;
};

// A line of so many who wait without a thread. One operation: who is inside goes, the next one is called back and is
// inside, and the one that went joins the line again.
class AsyncLine final : public Subject {
 public:
  explicit AsyncLine(std::uint32_t waiters) : waiters_(waiters) {
    for (std::uint32_t i = 0; i <= waiters; ++i) join();
    await_next();
  }

  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      inside_.reset();
      await_next();
      join();
    }
  }
  void check(std::uint64_t operations) override {
    require(arrivals_ == operations + 1, "one arrival for every operation");
    require(store_.counts(std::span(&airlock_.gate(), 1)).front().waiting == waiters_,
            "the line is as long as it was");
  }

 private:
  void join() {
    airlock_.enter_async(
        {}, [this](Arrival& arrival) { inside_ = std::move(arrival.take().value()); }, mailbox_);
  }
  void await_next() {
    pollfd called{mailbox_.fd(), POLLIN, 0};
    require(poll(&called, 1, -1) == 1, "the descriptor tells of the arrival");
    arrivals_ += mailbox_.run();
  }

  std::uint32_t waiters_;
  Store store_ = open_store("memory:");
  Airlock airlock_{store_, "erp", {.limit = 1, .ttl = kLong, .max_wait = kLong, .patience = kLong}};
  Mailbox mailbox_;
  std::optional<Lease> inside_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace

void add_waiting_rows(std::vector<Row>& rows) {
  rows.push_back({.name = "memory: Bulkhead::call of an empty callable",
                  .against = "acquire + release, fresh random visitor",
                  .aim = 1.5,
                  .subject = [] { return std::make_unique<EmptyCall>(); },
                  .reference = [] { return std::make_unique<AcquireRelease>(); }});
  rows.push_back({.name = "memory: two threads through an airlock with one slot",
                  .against = "a bare condition_variable hand-over",
                  .aim = 2.0,
                  .subject = [] { return std::make_unique<Alternate<AirlockTurn>>(); },
                  .reference = [] { return std::make_unique<Alternate<ConditionTurn>>(); },
                  .time = Time::wall,
                  .cores = Cores::one});
  rows.push_back({.name = "memory: async hand-over, 10 000 waiters",
                  .against = "10 waiters",
                  .aim = 1.5,
                  .subject = [] { return std::make_unique<AsyncLine>(10'000); },
                  .reference = [] { return std::make_unique<AsyncLine>(10); },
                  .time = Time::wall,
                  .cores = Cores::one});
}

}  // namespace airlock::bench
