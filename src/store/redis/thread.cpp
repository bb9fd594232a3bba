#include "store/redis/thread.hpp"

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX

#include <system_error>
#include <utility>

#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

// A new thread inherits the mask.
class BlockSignals {
 public:
  BlockSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

std::thread start_thread(const char* name, std::function<void()> work) try {
  const BlockSignals blocked;
  std::thread thread(std::move(work));
  pthread_setname_np(thread.native_handle(), name);
  return thread;
} catch (const std::system_error& error) {
  throw unavailable(std::string("no thread: ") + error.what());
}

}  // namespace airlock::redis
