#include "store/redis/boot_clock.hpp"

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <algorithm>

#include "base/immortal.hpp"

namespace airlock::redis {
namespace {

Instant read_clock(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec / 1000);
}

class BootClock final : public Clock {
 public:
  Instant now() noexcept override { return read_clock(CLOCK_BOOTTIME); }
  Instant wall() noexcept override { return read_clock(CLOCK_REALTIME_COARSE); }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override {
    if (deadline == kForever) return changed.wait(lock);
    // A condition variable does not count what was slept through: it is looked at now and then.
    constexpr Duration kLook = std::chrono::seconds(1);
    changed.wait_for(lock, std::clamp(deadline - now(), Duration(0), kLook));
  }
};

constinit base::Immortal<BootClock> g_boot_clock;

}  // namespace

Clock& boot_clock() noexcept { return g_boot_clock.value; }

}  // namespace airlock::redis
