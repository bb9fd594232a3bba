#include "store/redis/thread.hpp"

#include <pthread.h>

#include <system_error>
#include <utility>

#include "base/block_signals.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {

std::thread start_thread(const char* name, std::function<void()> work) try {
  const base::BlockSignals blocked;
  std::thread thread(std::move(work));
  pthread_setname_np(thread.native_handle(), name);
  return thread;
} catch (const std::system_error& error) {
  throw unavailable(std::string("no thread: ") + error.what());
}

}  // namespace airlock::redis
