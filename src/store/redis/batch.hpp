#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "store/redis/call.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/topology.hpp"

namespace airlock::redis {

// What became of many calls that were made together.
struct Batch {
  std::vector<std::optional<Reply>> replies;  // As the calls were. Empty: the failure tells why.
  std::optional<Failure> failure;

  // StoreError: there is no reply, or it is an error.
  [[nodiscard]] const Reply& at(std::size_t call) const;
};

// Makes many calls, in one round trip to each server, at the same time. Those that a server does not
// answer are made again, so all of them must be such as may be made twice. `run_alone` makes a call
// that a server of a cluster has sent on to another.
using RunAlone = std::function<Reply(const Call&)>;
[[nodiscard]] Batch run_batch(Topology& topology, std::span<const Call> calls,
                              const Deadline& deadline, const RunAlone& run_alone);

}  // namespace airlock::redis
