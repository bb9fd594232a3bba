#include "operations/signals.hpp"

#include <ctime>
#include <initializer_list>

namespace airlock::server {

sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, each);
  return signals;
}

void block_signals() {
  const sigset_t signals = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int await_signal(std::chrono::milliseconds at_most) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at_most);
  const timespec timeout{.tv_sec = seconds.count(),
                         .tv_nsec = std::chrono::nanoseconds(at_most - seconds).count()};
  const sigset_t signals = awaited_signals();
  const int caught = sigtimedwait(&signals, nullptr, &timeout);
  return caught < 0 ? 0 : caught;
}

}  // namespace airlock::server
