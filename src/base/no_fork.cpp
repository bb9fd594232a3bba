#include "base/no_fork.hpp"

#include <pthread.h>

#include "base/mutex.hpp"

namespace airlock::base {
namespace {

constinit Mutex g_mutex;

// Held from a constructor to a destructor, or by a thread in fork(): more than the analysis can follow.
void lock() noexcept AIRLOCK_NO_THREAD_SAFETY_ANALYSIS { g_mutex.lock(); }
void unlock() noexcept AIRLOCK_NO_THREAD_SAFETY_ANALYSIS { g_mutex.unlock(); }

// Before main(): were the first NoFork to do it, a fork() meanwhile would leave the child a mutex that
// nobody unlocks.
[[maybe_unused]] const int kRegistered = pthread_atfork(lock, unlock, unlock);

}  // namespace

NoFork::NoFork() noexcept { lock(); }
NoFork::~NoFork() { unlock(); }

}  // namespace airlock::base
