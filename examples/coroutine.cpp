// Coroutines that wait at a gate, on one thread and with a scheduler of the program's own.
// expect: report 1: late
// expect: two reports wait
// expect: report 2: in
// expect: report 3: in
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <mutex>
#include <stop_token>

#include "airlock/airlock.hpp"
#include "airlock/coro.hpp"

namespace {

// NOLINTBEGIN(readability-identifier-naming,readability-static-accessed-through-instance): the
// language names and calls them so

// [scheduler]
// Continues coroutines on the thread that calls run().
class Scheduler {
 public:
  struct Job {  // What they return. The scheduler is their first argument.
    struct promise_type {
      template <typename... Arguments>
      explicit promise_type(Scheduler& first, const Arguments&... /*rest*/) : scheduler(first) {
        ++scheduler.jobs_;
      }
      ~promise_type() { --scheduler.jobs_; }
      static Job get_return_object() noexcept { return {}; }
      static std::suspend_never initial_suspend() noexcept { return {}; }
      static std::suspend_never final_suspend() noexcept { return {}; }
      static void return_void() noexcept {}
      static void unhandled_exception() noexcept { std::terminate(); }
      Scheduler& scheduler;
    };
  };

  void post(std::function<void()> step) {  // From any thread.
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
    posted_.notify_one();
  }
  void run() {  // Until all jobs are done.
    for (std::unique_lock lock(mutex_); jobs_ > 0; lock.lock()) {
      posted_.wait(lock, [this] { return !steps_.empty(); });
      const std::function<void()> step = std::move(steps_.front());
      steps_.pop_front();
      lock.unlock();
      step();
    }
  }

 private:
  int jobs_ = 0;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> steps_;
};
// [/scheduler]

// [coroutine]
Scheduler::Job report(Scheduler& scheduler, const airlock::Airlock& erp, std::stop_token stop,
                      int number) {
  const airlock::Ask ask{.stop = stop};
  auto lease = co_await airlock::async_enter(
      erp, ask, [&](airlock::Resumption resume) { scheduler.post(std::move(resume)); });
  if (lease) {
    std::cout << "report " << number << ": in\n";  // The lease ends with the coroutine.
  } else {
    std::cout << "report " << number << ": " << airlock::to_text(lease.error().reason) << "\n";
  }
}
// [/coroutine]

// NOLINTEND(readability-identifier-naming,readability-static-accessed-through-instance)

}  // namespace

int main() {
  auto store = airlock::open_store("memory:");
  airlock::Airlock erp{store, "legacy-erp", {.limit = 1}};
  airlock::Outcome<airlock::Lease> busy = erp.enter();

  Scheduler scheduler;
  std::stop_source cancel;
  report(scheduler, erp, cancel.get_token(), 1);
  cancel.request_stop();
  scheduler.run();

  report(scheduler, erp, {}, 2);
  report(scheduler, erp, {}, 3);
  std::cout << "two reports wait\n";
  busy->release();
  scheduler.run();
}
