#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/redis/call.hpp"
#include "store/redis/pipeline.hpp"

namespace airlock::redis {

// Calls that were made in one round trip, or in two where the server did not know
// a script.
struct Exchange {
  std::vector<Reply> replies;  // As the calls were. May be errors.
  bool in_order = true;        // None was made again after the others.
  bool acknowledged = true;    // By so many replicas as was asked for.
};

// Asking: the keys are on their way to this server, which is asked for this once.
enum class Asking : bool { no, yes };

[[nodiscard]] Exchange exchange(Pipeline& pipeline, std::span<const Call* const> calls,
                                Asking asking, const Deadline& deadline);

// Whether a server says that it is the wrong one, or not ready: it may be another when it is
// connected to again.
[[nodiscard]] bool is_unavailable(const Reply& reply);

}  // namespace airlock::redis
