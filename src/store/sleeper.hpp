#pragma once

#include <condition_variable>
#include <functional>

#include "airlock/version.hpp"
#include "base/clock.hpp"
#include "base/locks.hpp"

namespace airlock {

// A thread that sleeps while its visitor waits: Backend::await() puts it to sleep, any thread may
// wake it. It serves one thread, again and again.
class AIRLOCK_EXPORT Sleeper {
 public:
  // It goes on at once, or as soon as it wants to sleep; with `news` it learns that something may
  // have changed for its visitor. Lives until this returns.
  void wake(bool news) noexcept;

  // For stores: the thread sleeps here. Returns whether it was woken with news.
  [[nodiscard]] bool sleep(Clock& clock, Instant deadline);

  // For stores where threads sleep elsewhere: from now until unpark(), wake() calls `on_wake`, under
  // a lock. False: it has been woken already.
  [[nodiscard]] bool park(std::function<void()> on_wake);
  bool unpark() noexcept;  // Whether it was woken with news.

 private:
  bool take_news() noexcept AIRLOCK_REQUIRES(mutex_);

  base::StdMutex mutex_;
  std::condition_variable changed_;
  std::function<void()> on_wake_ AIRLOCK_GUARDED_BY(mutex_);
  bool woken_ AIRLOCK_GUARDED_BY(mutex_) = false;
  bool news_ AIRLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace airlock
