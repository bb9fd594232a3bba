#pragma once

#include <chrono>
#include <csignal>

namespace airlock::server {

// TERM and INT end the server, HUP reads its configuration again, USR1 opens its log again. All are blocked in every thread
// and waited for.
[[nodiscard]] sigset_t awaited_signals();

void block_signals();

// The next one, or 0 after `at_most`.
[[nodiscard]] int await_signal(std::chrono::milliseconds at_most);

}  // namespace airlock::server
