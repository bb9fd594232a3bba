#include "store/redis/descriptor.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

#include "base/descriptor.hpp"
#include "base/fork.hpp"
#include "base/posix.hpp"

namespace airlock::redis {

// A fork() may come at any moment: no lock guards them.
struct SocketDescriptor::Place {
  std::atomic<int> fd{0};  // And one more; 0: free, -1: being taken.
  std::atomic<ino_t> inode{0};
};

namespace {

using Place = SocketDescriptor::Place;

constexpr int kTaken = -1;

// Never freed.
struct Block {
  std::array<Place, 256> places;
  std::atomic<Block*> next{nullptr};
};

constinit Block g_first;
constinit std::atomic<std::uint64_t> g_noted_by{0};  // Twice the generation; odd: being closed.

Block& next_block(Block& block) {
  if (Block* const next = block.next.load()) return *next;
  auto made = std::make_unique<Block>();
  Block* none = nullptr;
  return block.next.compare_exchange_strong(none, made.get()) ? *made.release() : *none;
}

Place& take_place() {
  for (Block* block = &g_first;; block = &next_block(*block)) {
    for (Place& place : block->places) {
      int free = 0;
      if (place.fd.load(std::memory_order_relaxed) == 0 &&
          place.fd.compare_exchange_strong(free, kTaken)) {
        return place;
      }
    }
  }
}

// 0: not a socket.
ino_t inode_of(int fd) noexcept {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

void close_copy(Place& place) noexcept {
  const int fd = place.fd.load() - 1;
  if (fd >= 0 && inode_of(fd) == place.inode.load()) close(fd);
  place.fd = 0;
}

// Nobody opens one before the inherited ones are closed.
void close_inherited() noexcept {
  const std::uint64_t own = 2 * base::fork_generation();
  for (std::uint64_t seen = g_noted_by.load(); seen != own; seen = g_noted_by.load()) {
    if (seen == own + 1) {
      std::this_thread::yield();
      continue;
    }
    if (!g_noted_by.compare_exchange_strong(seen, own + 1)) continue;
    for (Block* block = &g_first; block != nullptr; block = block->next) {
      for (Place& place : block->places) close_copy(place);
    }
    g_noted_by.store(own);
  }
}

}  // namespace

SocketDescriptor::SocketDescriptor(int family) : generation_(base::fork_generation()) {
  close_inherited();
  place_ = &take_place();
  fd_ = base::above_stdio(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int error = errno;
  place_->inode = fd_ < 0 ? 0 : inode_of(fd_);
  place_->fd = fd_ + 1;
  if (fd_ < 0) base::throw_errno("socket", error);
}

// Shut down, since a child may have a copy that it never closes.
SocketDescriptor::~SocketDescriptor() {
  if (fd_ < 0 || generation_ != base::fork_generation()) return;
  place_->fd = 0;
  shutdown(fd_, SHUT_RDWR);
  close(fd_);
}

}  // namespace airlock::redis
