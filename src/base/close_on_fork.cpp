#include "base/close_on_fork.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "airlock/error.hpp"

namespace airlock::base {
namespace {

constexpr int kNone = -1;

// Descriptors + 1, so that zeroes are empty slots.
constinit std::array<std::atomic<int>, CloseOnFork::kMax> g_open{};
constinit std::atomic<bool> g_set_up{false};

void close_all() noexcept {
  for (std::atomic<int>& slot : g_open) {
    const int fd = slot.exchange(0) - 1;
    if (fd >= 0) close(fd);
  }
}

int slot_for(int fd) noexcept {
  if (!g_set_up.exchange(true)) pthread_atfork(nullptr, nullptr, close_all);
  for (int i = 0; i < CloseOnFork::kMax; ++i) {
    int empty = 0;
    if (g_open[static_cast<std::size_t>(i)].compare_exchange_strong(empty, fd + 1)) return i;
  }
  return kNone;
}

}  // namespace

CloseOnFork::CloseOnFork(int fd) : fd_(fd), slot_(slot_for(fd)) {
  if (slot_ != kNone) return;
  close(fd);
  throw StoreError(StoreError::Kind::no_room, StoreError::Outcome::nothing_happened,
                   "this process has " + std::to_string(kMax) + " stores of shared memory open");
}

CloseOnFork::~CloseOnFork() {
  if (fd_ < 0) return;
  const int fd = fd_;
  disown();
  close(fd);
}

void CloseOnFork::disown() noexcept {
  if (fd_ < 0) return;
  int expected = fd_ + 1;
  g_open[static_cast<std::size_t>(slot_)].compare_exchange_strong(expected, 0);
  fd_ = kNone;
}

}  // namespace airlock::base
