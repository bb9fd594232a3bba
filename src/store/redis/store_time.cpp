#include "store/redis/store_time.hpp"

#include "store/call_limit.hpp"
#include "store/redis/boot_clock.hpp"

namespace airlock::redis {

Clock& clock_of(const Options& options) noexcept {
  return options.stepped != nullptr ? *options.stepped : boot_clock();
}

Deadline step_deadline(const Options& options) {
  if (options.stepped != nullptr) return Deadline(options.timeout);
  const Duration left = CallLimit::within(options.timeout);
  return left < options.timeout / 2 ? Deadline(left).cut_short() : Deadline(left);
}

}  // namespace airlock::redis
