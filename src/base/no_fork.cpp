#include "base/no_fork.hpp"

#include <pthread.h>

#include "base/mutex.hpp"

namespace airlock::base {
namespace {

constinit Mutex g_mutex;

void lock() noexcept { g_mutex.lock(); }
void unlock() noexcept { g_mutex.unlock(); }

// Before main(): were the first NoFork to do it, a fork() meanwhile would leave the child a mutex that
// nobody unlocks.
[[maybe_unused]] const int kRegistered = pthread_atfork(lock, unlock, unlock);

}  // namespace

NoFork::NoFork() noexcept { lock(); }
NoFork::~NoFork() { unlock(); }

}  // namespace airlock::base
