#pragma once

#include <functional>
#include <thread>

namespace airlock::base {

// A thread that takes no signals: those of the program go to the program's threads. StoreError
// (no_room, nothing happened) if no thread can be started.
[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> work);

}  // namespace airlock::base
