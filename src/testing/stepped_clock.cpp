#include "testing/stepped_clock.hpp"

#include <algorithm>
#include <thread>

#include "airlock/error.hpp"
#include "store/memory/memory_store.hpp"

namespace airlock::internal {

struct SteppedClock::Wait {
  std::mutex& mutex;
  std::condition_variable& changed;
  Instant deadline;
};

void SteppedClock::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                              Instant deadline) {
  Wait wait{*lock.mutex(), changed, deadline};
  {
    const base::LockGuard guard(mutex_);
    if (deadline <= now()) return;
    waits_.push_back(&wait);
  }
  changed.wait(lock);
  const base::LockGuard guard(mutex_);
  std::erase(waits_, &wait);
}

void SteppedClock::advance(Duration duration) {
  if (duration < Duration::zero()) {
    throw InvalidArgument("advance by " + to_text(duration) + ": time never goes back");
  }
  {
    const base::LockGuard guard(mutex_);
    now_ = saturating_add(now_, duration);
    wall_ = saturating_add(wall_, duration);
  }
  while (!wake_due()) std::this_thread::yield();
}

// A notification before the waiter sleeps is lost, and its mutex tells whether it does. Only tried,
// never waited for: the waiter takes that mutex first and ours second.
bool SteppedClock::wake_due() {
  const base::LockGuard guard(mutex_);
  std::erase_if(waits_, [this](const Wait* wait) {
    if (wait->deadline > now()) return false;
    const std::unique_lock asleep(wait->mutex, std::try_to_lock);
    if (asleep) wait->changed.notify_all();
    return asleep.owns_lock();
  });
  return std::ranges::none_of(waits_, [this](const Wait* wait) { return wait->deadline <= now(); });
}

std::size_t SteppedClock::waiting() const {
  const base::LockGuard guard(mutex_);
  return waits_.size();
}

Clock& clock_of(testing::ManualClock& clock) noexcept { return *clock.clock_; }

}  // namespace airlock::internal

namespace airlock::testing {

ManualClock::ManualClock() : clock_(std::make_unique<internal::SteppedClock>()) {}
ManualClock::~ManualClock() = default;

void ManualClock::advance(Duration duration) { clock_->advance(duration); }
void ManualClock::set_wall(Instant wall) noexcept { clock_->set_wall(wall); }
Instant ManualClock::now() const noexcept { return clock_->now(); }
Instant ManualClock::wall() const noexcept { return clock_->wall(); }
std::size_t ManualClock::waiting() const { return clock_->waiting(); }

Store memory_store(Clock& clock) { return memory::make_store({}, clock); }
Store memory_store(ManualClock& clock) { return memory_store(internal::clock_of(clock)); }

}  // namespace airlock::testing
