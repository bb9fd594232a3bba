#pragma once

#include <vector>

#include "store/redis/connection.hpp"

namespace airlock::redis {

struct Answered {
  Address by;
  Reply reply;
};

// Asks several servers the same thing at the same time, each on a connection of its own, with a thread
// each that is left behind if it is late. Returns what those said that answered: when all have, or
// `grace` after the first, or at the deadline. StoreError: nobody did, and why the last one did not.
[[nodiscard]] std::vector<Answered> ask_all(const std::vector<Address>& servers,
                                            const Commands& commands, Duration grace,
                                            const Deadline& deadline);

}  // namespace airlock::redis
