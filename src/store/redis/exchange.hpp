#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/redis/call.hpp"
#include "store/redis/connection.hpp"

namespace airlock::redis {

// Calls that were made in one round trip on one connection, or in two where the server did not know
// a script.
struct Exchange {
  std::vector<Reply> replies;  // As the calls were. May be errors.
  bool in_order = true;        // None was made again after the others.
  bool acknowledged = true;    // By so many replicas as was asked for.
};

struct ExchangeOptions {
  std::uint32_t replicas_ack = 0;  // So many are waited for, if a call is lasting.
  bool asking = false;  // The keys are on their way to this server: it is asked for this once.
};

[[nodiscard]] Exchange exchange(Connection& connection, std::span<const Call* const> calls,
                                const ExchangeOptions& options, const Deadline& deadline);

// Whether a server says that it is the wrong one, or not ready: it may be another when it is
// connected to again.
[[nodiscard]] bool is_unavailable(const Reply& reply);

}  // namespace airlock::redis
