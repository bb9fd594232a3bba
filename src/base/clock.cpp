#include "base/clock.hpp"

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <algorithm>
#include <cstdint>

#include "base/immortal.hpp"

namespace airlock {
namespace {

Instant read_clock(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  // Below 2^32, and so divided by one multiplication.
  return std::chrono::seconds(time.tv_sec) +
         Duration(static_cast<std::uint32_t>(time.tv_nsec) / 1000);
}

class SystemClock final : public Clock {
 public:
  Instant now() noexcept override { return read_clock(CLOCK_MONOTONIC); }
  Instant recently() noexcept override { return read_clock(CLOCK_MONOTONIC_COARSE); }
  Instant wall() noexcept override { return read_clock(CLOCK_REALTIME_COARSE); }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override {
    // The standard clock counts nanoseconds: what it cannot express is centuries away.
    using Steady = std::chrono::steady_clock::time_point;
    constexpr auto kLast = std::chrono::floor<Duration>(Steady::duration::max());
    if (deadline >= kLast) return changed.wait(lock);
    changed.wait_until(lock, Steady(std::max(deadline, Instant{0})));
  }
};

// Stores in static objects and their threads may outlive any order of destruction.
constinit base::Immortal<SystemClock> g_system_clock;

}  // namespace

Clock::~Clock() = default;

Clock& Clock::system() noexcept { return g_system_clock.value; }

}  // namespace airlock
