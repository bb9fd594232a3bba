#pragma once

#include "base/clock.hpp"

namespace airlock::redis {

// CLOCK_BOOTTIME: time goes on while the host is suspended, as it does on the server.
[[nodiscard]] Clock& boot_clock() noexcept;

}  // namespace airlock::redis
