#pragma once

#include <memory>

#include "airlock/store.hpp"
#include "base/clock.hpp"

namespace airlock::testing {

// A store on the shared redis-server whose time is the clock's.
[[nodiscard]] Store redis_store(Clock& clock);

// Returns when everything that the server has said was passed on; at once for any other store.
void deliver_news(const Store& store);

}  // namespace airlock::testing
