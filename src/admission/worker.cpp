#include "admission/worker.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "airlock/error.hpp"
#include "base/fork.hpp"
#include "base/per_process.hpp"
#include "base/thread.hpp"

namespace airlock::internal {
struct Worker::State {
  State(const char* its_name, Clock& its_clock, std::function<void()> its_work)
      : name(its_name), clock(its_clock), work(std::move(its_work)) {}

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      woken = false;
      lock.unlock();
      work();
      lock.lock();
      const Instant next = planned;
      while (!woken && !stopping && clock.now() < next) clock.wait_until(lock, changed, next);
      if (!woken && needed <= next) needed = kForever;
      planned = Instant::min();
    }
  }

  const char* name;
  Clock& clock;
  std::function<void()> work;
  std::uint64_t generation = base::fork_generation();

  std::atomic<Instant> planned{kForever};  // When it wakes; the past while it works.
  std::atomic<bool> has_thread = false;
  std::mutex mutex;
  std::condition_variable changed;
  Instant needed = kForever;  // The first moment asked for that has not come.
  bool woken = false;
  bool stopping = false;
  std::thread thread;
};

Worker::Worker(const char* name, Clock& clock, std::function<void()> work)
    : state_(std::make_shared<State>(name, clock, std::move(work))) {}

Worker::~Worker() {
  if (state_->generation != base::fork_generation()) {
    base::leave_alone(new std::shared_ptr<State>(std::move(state_)));
    return;
  }
  stop();
}

void Worker::stop() noexcept {
  if (state_->generation != base::fork_generation()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_one();
  if (!state_->thread.joinable()) return;
  if (state_->thread.get_id() == std::this_thread::get_id()) {
    state_->thread.detach();  // It ends as soon as its work returns.
  } else {
    state_->thread.join();
  }
}

void Worker::plan(Instant next) noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->planned = std::min(next, state_->needed);
}

// REQUIRES: the mutex, so that the thread begins when the caller is done.
void Worker::start_unless_running() {
  if (state_->thread.joinable() || state_->stopping) return;
  state_->thread = base::start_thread(state_->name, [state = state_] { state->run(); });
  state_->planned = Instant::min();
  state_->has_thread = true;
}

void Worker::start() {
  if (state_->has_thread.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(state_->mutex);
  start_unless_running();
}

void Worker::need(Instant at) {
  if (at >= state_->planned.load()) return;
  const std::lock_guard lock(state_->mutex);
  start_unless_running();
  state_->woken = true;
  if (at != Instant{0}) state_->needed = std::min(state_->needed, at);
  state_->changed.notify_one();
}

bool Worker::try_need(Instant at) noexcept try {
  need(at);
  return true;
} catch (const StoreError&) {
  return false;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace airlock::internal
