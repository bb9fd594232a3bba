#include "base/thread.hpp"

#include <pthread.h>

#include <string>
#include <system_error>
#include <utility>

#include "airlock/error.hpp"
#include "base/block_signals.hpp"

namespace airlock::base {

std::thread start_thread(const char* name, std::function<void()> work) try {
  const BlockSignals blocked;
  std::thread thread(std::move(work));
  pthread_setname_np(thread.native_handle(), name);
  return thread;
} catch (const std::system_error& error) {
  throw StoreError(StoreError::Kind::no_room, StoreError::Outcome::nothing_happened,
                   std::string("no thread ") + name + " could be started: " + error.what() +
                       "; see the limits on processes and memory (ulimit -u, pids.max)");
}

}  // namespace airlock::base
