#include "store/redis/retry.hpp"

#include <algorithm>
#include <thread>

namespace airlock::redis {

Deadline of_one_attempt(const Topology& topology, RetryPolicy policy, const Deadline& deadline) {
  if (!topology.may_change() || policy == RetryPolicy::if_nothing_happened) return deadline;
  return deadline.sooner(std::chrono::duration_cast<Duration>(deadline.left() / 2));
}

bool is_worth_repeating(const Topology& topology, const StoreError& error, RetryPolicy policy,
                        std::size_t attempt, const Deadline& deadline) {
  if (deadline.is_over() || (attempt > 1 && !topology.may_change())) return false;
  if (policy == RetryPolicy::if_nothing_happened && error.outcome() != Outcome::nothing_happened)
    return false;
  return error.kind() == StoreError::Kind::unavailable ||
         (error.kind() == StoreError::Kind::busy && topology.may_change());
}

void rest_before(std::size_t attempt, const Deadline& deadline) {
  using std::chrono::milliseconds;
  if (attempt <= 2) return;
  const auto pause =
      std::min(milliseconds(1) * (1 << std::min<std::size_t>(attempt, 10)), milliseconds(50));
  std::this_thread::sleep_until(deadline.sooner(pause).at());
}

}  // namespace airlock::redis
