#pragma once

#include <functional>
#include <thread>

namespace airlock::redis {

// A thread that takes no signals: those of the program go to the program's threads. StoreError if
// there can be no more threads.
[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> work);

}  // namespace airlock::redis
