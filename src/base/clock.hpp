#pragma once

#include <condition_variable>
#include <mutex>

#include "airlock/duration.hpp"
#include "airlock/version.hpp"

namespace airlock {

// Time as a store and those who wait at it see it. Tests pass one that they step (testing.hpp).
class AIRLOCK_EXPORT Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock();

  // Never goes back. Decides everything but fences.
  [[nodiscard]] virtual Instant now() noexcept = 0;

  // A moment up to a few milliseconds before now(), never after it; cheaper to ask for.
  [[nodiscard]] virtual Instant recently() noexcept { return now(); }

  // Microseconds since 1970, to a few milliseconds; may jump. For fences and passes only.
  [[nodiscard]] virtual Instant wall() noexcept = 0;

  // Waits on `changed` until it is notified or `deadline` has come, whichever is first; may wake
  // early.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                          Instant deadline) = 0;

  // CLOCK_MONOTONIC: a suspended host wakes with its leases.
  [[nodiscard]] static Clock& system() noexcept;
};

}  // namespace airlock
