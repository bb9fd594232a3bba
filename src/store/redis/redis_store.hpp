#pragma once

#include <memory>

#include "store/backend.hpp"
#include "store/redis/options.hpp"

namespace airlock::redis {

// A store on Redis: the rules are the scripts in lua/, run where the state is. Connects on first use;
// the calling thread does its own I/O. In a forked child it has connections of its own.
[[nodiscard]] Store make_store(Options options);

// Returns when everything that the servers have told this process was passed on. For tests.
void deliver_messages(const Store& store);

}  // namespace airlock::redis
