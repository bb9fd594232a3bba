#pragma once

#include <functional>
#include <vector>

#include "store/redis/connection.hpp"

namespace airlock::redis {

struct Answered {
  Address by;
  std::vector<Reply> replies;  // To each command.
};

struct QueryOptions {
  Duration grace{0};  // Others have so long after the first.
  std::function<void(const std::vector<Reply>&)> check = {};  // StoreError: that is no answer.
};

// Asks several servers the same things at the same time, each on a connection of its own, with a thread
// each that is left behind if it is late. Returns what those said that answered: when all have, or
// `grace` after the first, or at the deadline. StoreError: nobody did, and why; that one cannot be
// helped by asking again outweighs that others are not there.
[[nodiscard]] std::vector<Answered> query_servers(const std::vector<Address>& servers,
                                                  const std::vector<Commands>& commands,
                                                  const QueryOptions& options,
                                                  const Deadline& deadline);

}  // namespace airlock::redis
