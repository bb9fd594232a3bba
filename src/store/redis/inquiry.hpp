#pragma once

#include <vector>

#include "store/redis/connection.hpp"

namespace airlock::redis {

struct Answered {
  Address by;
  std::vector<Reply> replies;  // To each command.
};

// Asks several servers the same things at the same time, each on a connection of its own, with a thread
// each that is left behind if it is late. Returns what those said that answered: when all have, or
// `grace` after the first, or at the deadline. StoreError: nobody did, and why; that one cannot be
// helped by asking again outweighs that others are not there.
[[nodiscard]] std::vector<Answered> ask_all(const std::vector<Address>& servers,
                                            const std::vector<Commands>& commands, Duration grace,
                                            const Deadline& deadline);

}  // namespace airlock::redis
