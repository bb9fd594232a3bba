#pragma once

#include <memory>

#include "airlock/clock.hpp"
#include "airlock/store.hpp"

namespace airlock::testing {

// A store on the shared redis-server whose time is the clock's.
[[nodiscard]] std::shared_ptr<Store> redis_store(Clock& clock);

}  // namespace airlock::testing
