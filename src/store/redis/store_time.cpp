#include "store/redis/store_time.hpp"

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <algorithm>

#include "base/immortal.hpp"
#include "store/call_limit.hpp"

namespace airlock::redis {
namespace {

Instant read_clock(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec / 1000);
}

// Time goes on while the host is suspended, as it does on the server.
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

Clock& clock_of(const Options& options) noexcept {
  return options.stepped != nullptr ? *options.stepped : g_boot_clock.value;
}

Deadline step_deadline(const Options& options) {
  if (options.stepped != nullptr) return Deadline(options.timeout);
  const Duration left = CallLimit::within(options.timeout);
  return left < options.timeout / 2 ? Deadline(left).cut_short() : Deadline(left);
}

}  // namespace airlock::redis
