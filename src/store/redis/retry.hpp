#pragma once

#include <cstddef>

#include "store/redis/deadline.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/topology.hpp"

namespace airlock::redis {

// Whether a call is made again after its connection broke: also when it may have been done, or only if
// nothing can have happened.
enum class RetryPolicy { always, if_nothing_happened };

// How long one attempt may take: where another server may take over, one that says nothing is not
// waited for to the end.
[[nodiscard]] Deadline of_one_attempt(const Topology& topology, RetryPolicy policy,
                                      const Deadline& deadline);

// Whether another attempt is worth it after so many. A connection that broke may have been closed
// long ago; a server that refuses has answered.
[[nodiscard]] bool is_worth_repeating(const Topology& topology, const StoreError& error,
                                      RetryPolicy policy, std::size_t attempt,
                                      const Deadline& deadline);

// Sleeps: not at all before the second attempt, then longer and longer.
void rest_before(std::size_t attempt, const Deadline& deadline);

}  // namespace airlock::redis
