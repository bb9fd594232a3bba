#pragma once

#include <functional>
#include <memory>

#include "base/clock.hpp"

namespace airlock::internal {

// A thread that works, sleeps until the moment that the work planned, and works again. Started when
// it is first needed; blocks all signals.
//
// The work calls plan() under the lock that guards what it works on, and whoever gives it something
// to do calls need() after having held that lock: so one of the two sees the other.
class Worker {
 public:
  Worker(const char* name, Clock& clock, std::function<void()> work);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Ends the thread when its work has returned. In a forked child there is none to end.
  ~Worker();
  void stop() noexcept;

  // It sleeps until then, or until the moment it was last needed for, if that is to come: who is
  // needed again and again, for what is over each time before it is due, is not woken each time.
  void plan(Instant next) noexcept;

  // Makes sure that it works at that moment or before; 0: now. Cheap where it will anyway. StoreError
  // (no_room) if it has no thread yet and none can be started: all is as before, and the next call
  // tries again.
  void need(Instant at);
  [[nodiscard]] bool try_need(Instant at) noexcept;  // False instead.

  // Makes sure that it has a thread, so that need() cannot fail any more.
  void start();

 private:
  struct State;

  void start_unless_running();

  std::shared_ptr<State> state_;  // The thread has it too.
};

}  // namespace airlock::internal
