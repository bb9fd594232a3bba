#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/redis/batch.hpp"
#include "store/redis/call.hpp"
#include "store/redis/options.hpp"
#include "store/redis/redirect_reply.hpp"
#include "store/redis/retry.hpp"
#include "store/redis/topology.hpp"

namespace airlock::redis {

// Makes calls at whichever server has their keys: follows redirections, and makes a call again where a
// connection breaks. Safe to use from any thread.
class Client {
 public:
  Client(Topology& topology, const Options& options) : topology_(topology), options_(options) {}

  // One script, one round trip; two if the server does not know the script. An error reply is a
  // StoreError. Where a connection breaks, the call is made again on another one, as the policy says.
  // `ahead`: calls for the same slot that are written before it, in the same round trip, and again
  // before it whenever it is made again.
  struct Ran {
    Reply reply;
    std::vector<Reply> ahead;  // May be errors.
    bool in_order = true;      // All of `ahead` was done before the call.
    bool perhaps_twice = false;
    bool acknowledged = true;  // By as many replicas as the options say, if the call asks for that.
  };
  [[nodiscard]] Ran run(const Call& call, RetryPolicy policy, const Deadline& deadline,
                        std::span<const Call> ahead = {});

  // Many in one round trip to each server, at the same time. All of them may be made twice.
  [[nodiscard]] Batch run(std::span<const Call> calls, const Deadline& deadline);

  // Any other command, which may be done twice.
  [[nodiscard]] Reply ask(Node& node, const Commands& commands, const Deadline& deadline);

  // Whether all calls go to one server, whatever their slot.
  [[nodiscard]] bool has_one_server() const noexcept { return !topology_.has_slots(); }
  [[nodiscard]] std::vector<NodePtr> nodes(const Deadline& deadline) {
    return topology_.all(deadline);
  }
  // How many connections were opened to the one server that there is; of several nobody counts them.
  [[nodiscard]] std::uint64_t connections();

 private:
  [[nodiscard]] NodePtr follow(const RedirectReply& to, const std::string& host_asked);

  Topology& topology_;
  const Options& options_;
};

}  // namespace airlock::redis
