#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/redis/call.hpp"
#include "store/redis/pool.hpp"
#include "store/redis/subscription.hpp"

namespace airlock::redis {

// What one process has of a Redis store: connections and, while somebody waits, a subscription.
struct Client {
  Client(const Address& address, std::uint32_t connections, const std::string& prefix,
         Duration timeout);

  // One script, one round trip; two if the server does not know the script. An error reply is a
  // StoreError. Where a connection breaks, the call is made again on another one: if nothing can
  // have happened, or if it may be done twice.
  enum class Twice { harmless, never };
  struct Ran {
    Reply reply;
    bool perhaps_twice = false;
  };
  [[nodiscard]] Ran run(const Call& call, Twice twice, const Deadline& deadline);

  // Many in one round trip; replies come as the calls were. All of them may be made twice.
  [[nodiscard]] std::vector<Reply> run(std::span<const Call> calls, const Deadline& deadline);

  // Any other command.
  [[nodiscard]] Reply ask(const Commands& commands, const Deadline& deadline);

  Pool pool;
  Subscription subscription;

 private:
  [[nodiscard]] std::vector<Reply> run_on(Connection& connection, std::span<const Call> calls,
                                          const Deadline& deadline);
  [[nodiscard]] Reply run_text(Connection& connection, const Call& call, const Deadline& deadline);
  void check(const Reply& reply);
};

}  // namespace airlock::redis
