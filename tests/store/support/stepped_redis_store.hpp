#pragma once

#include <memory>

#include "airlock/clock.hpp"
#include "airlock/store.hpp"

namespace airlock::testing {

// A store on the shared redis-server whose time is the clock's.
[[nodiscard]] std::shared_ptr<Store> redis_store(Clock& clock);

// Returns when everything that the server has said was passed on; at once for any other store.
void deliver_news(Store& store);

}  // namespace airlock::testing
