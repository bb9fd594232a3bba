#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <variant>

#include "rows.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

// A gate with one slot, its holder, and a line that is always as long. One operation: the holder releases, the store
// hands the slot to the next in line and calls it, that one claims, and the one that released joins the line again.
class HandOver : public Subject {
 public:
  HandOver(Order order, std::uint32_t waiters)
      : store_(open_store("memory:")),
        request_{.gate = "erp",
                 .permits = permits(1),
                 .line = {.join = true, .order = order, .patience = kLong, .claim_window = kLong}},
        holder_{.store = store_.id(), .gate = request_.gate},
        waiters_(waiters) {
    claim(0);
    for (std::uint32_t number = 1; number <= waiters; ++number) join(number);
  }

  // Everything in this thread: the callback only notes who was called.
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      release();
      take_over();
    }
  }

  void check(std::uint64_t operations) override {
    const auto gate = store_.look(request_.gate);
    require(gate.has_value(), "the gate is known");
    require_grants(*gate, operations + 1);
    require(calls_ == operations, "every hand-over called its waiter, and nobody else");
    require(gate->order == request_.line.order, "the line has the order of the row");
    require(gate->counts.waiting == waiters_, "the line is as long as it was");
    require(gate->counts.holders == 1 && gate->holders[0].claimed, "one holds");
  }

 protected:
  // The store hands the slot to the next and calls it before this returns.
  void release() { require(store_.release(holder_), "the holder holds"); }

  // REQUIRES: somebody was called.
  void take_over() {
    const auto left = static_cast<std::uint32_t>(holder_.visitor.low);
    claim(called_.load(std::memory_order_acquire));
    join(left);
  }

  virtual void wake() {}

 private:
  static constexpr std::uint16_t kClasses = 4;

  Request& ask(std::uint32_t number) {
    request_.visitor = {.high = 1, .low = number};
    if (request_.line.order == Order::priority) {
      request_.line.priority = static_cast<std::uint16_t>(number % kClasses);
    }
    return request_;
  }

  void claim(std::uint32_t number) {
    const Answer answer = store_.admit(ask(number));
    const auto& granted = std::get<Granted>(answer);
    require(!granted.repeated, "the claim is the first of its hand-over");
    holder_.visitor = granted.token.visitor;
    holder_.fence = granted.token.fence;
    holder_.place = granted.token.place;
  }

  void join(std::uint32_t number) {
    const Answer answer = store_.admit(ask(number));
    require(std::holds_alternative<Queued>(answer), "who joins a full gate waits");
    const auto call = [this, number] {
      called_.store(number, std::memory_order_release);
      ++calls_;
      wake();
    };
    require(store_.watch(request_.gate, request_.visitor, call), "who waits can be called");
  }

  Store store_;
  Request request_;
  Token holder_;
  std::uint32_t waiters_;
  std::atomic<std::uint32_t> called_ = 0;
  std::uint64_t calls_ = 0;
};

// Two threads, the caller's and one of its own: one has the turn, the other sleeps on a condition variable. There is one
// pair for all rows, so that both sides of a comparison meet the same whims of the scheduler.
class TwoThreads {
 public:
  TwoThreads() : partner_([this] { help(); }) {}

  ~TwoThreads() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    turn_came_[kPartner].notify_one();
    partner_.join();
  }

  // Calls `step` in each thread in turn, here first, until it returns false; as long as it returns true it has called
  // pass(). Returns when the other thread is out of its last step, too.
  void alternate(const std::function<bool()>& step) {
    step_ = &step;
    over_ = false;
    while (!over_ && step()) require(await_turn(), "the other thread passed the turn");
    std::unique_lock lock(mutex_);
    ending_ = true;
    turn_came_[kCaller].wait(lock, [&] { return partner_rests_; });
    ending_ = false;
  }

  // Wakes the other one. What both use belongs to it from then on.
  void pass() {
    std::size_t next = 0;
    {
      const std::lock_guard lock(mutex_);
      next = turn_ = 1 - turn_;
    }
    turn_came_[next].notify_one();
  }

 private:
  static constexpr std::size_t kCaller = 0;
  static constexpr std::size_t kPartner = 1;

  // False: it does not come.
  bool await_turn() {
    constexpr auto kGivesUp = std::chrono::seconds(30);
    std::unique_lock lock(mutex_);
    return turn_came_[kCaller].wait_for(lock, kGivesUp, [&] { return turn_ == kCaller; });
  }

  // False: there is nothing more to help with.
  bool rest() {
    std::unique_lock lock(mutex_);
    partner_rests_ = true;
    if (ending_) turn_came_[kCaller].notify_one();
    turn_came_[kPartner].wait(lock, [&] { return turn_ == kPartner || closed_; });
    partner_rests_ = false;
    return !closed_;
  }

  void help() {
    while (rest()) {
      if ((*step_)()) continue;
      over_ = true;
      pass();
    }
  }

  std::mutex mutex_;
  std::array<std::condition_variable, 2> turn_came_;
  std::size_t turn_ = kCaller;
  bool partner_rests_ = false;
  bool ending_ = false;
  bool closed_ = false;
  // Of whose turn it is.
  const std::function<bool()>* step_ = nullptr;
  bool over_ = false;
  std::thread partner_;
};

TwoThreads& two_threads() {
  static TwoThreads threads;
  return threads;
}

// The same between two threads: the callback wakes the one that sleeps, and that one claims. One wake in each operation,
// as when every waiter is a thread of its own.
class HandOverToThread final : public HandOver {
 public:
  using HandOver::HandOver;

  void run(std::uint64_t operations) override {
    left_ = operations;
    two_threads().alternate([this] { return take_turn(); });
  }

 private:
  void wake() override { two_threads().pass(); }

  bool take_turn() {
    if (released_) {
      take_over();
      released_ = false;
      if (--left_ == 0) return false;
    }
    released_ = true;
    release();
    return true;
  }

  std::uint64_t left_ = 0;
  bool released_ = false;  // And the one that was called has not claimed yet.
};

struct OrderRow {
  Order order;
  const char* name;
  double cpu_aim;
};

constexpr std::array kOrders = {
    OrderRow{Order::fifo, "fifo", 2.5}, OrderRow{Order::priority, "priority", 2.5},
    OrderRow{Order::lottery, "lottery", 3.5}, OrderRow{Order::aging_lottery, "aging_lottery", 3.5}};

template <typename T>
Row compare_lines(Order order) {
  return {.name = {},
          .against = "10 waiters",
          .aim = {},
          .subject = [order] { return std::make_unique<T>(order, 10'000); },
          .reference = [order] { return std::make_unique<T>(order, 10); }};
}

}  // namespace

void add_line_rows(std::vector<Row>& rows) {
  const std::string what = "memory: release, hand-over, claim, join again, 10 000 waiters, ";
  for (const auto& [order, name, cpu_aim] : kOrders) {
    Row woken = compare_lines<HandOverToThread>(order);
    woken.name = what + name + ", wall time, a sleeping thread woken";
    woken.aim = 1.5;
    woken.time = Time::wall;
    woken.cores = Cores::one;
    rows.push_back(woken);

    Row called = compare_lines<HandOver>(order);
    called.name = what + name + ", CPU time, callback sets an atomic";
    called.aim = cpu_aim;
    rows.push_back(called);
  }
}

}  // namespace airlock::bench
