#pragma once

#include <chrono>

namespace airlock::server {

// When a client of a server that stops is to ask again: 1 to 5 s, at random, so that not all come at once.
[[nodiscard]] std::chrono::milliseconds come_back_after();

}  // namespace airlock::server
