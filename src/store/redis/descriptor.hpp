#pragma once

#include <cstdint>
#include <utility>

namespace airlock::redis {

// A new socket, closed in the end.
//
// A forked child closes its copies of its parent's sockets when it first opens one of its own, so that a
// server sees a connection end when the parent dies. It goes by the socket, not by the number: what the
// child has opened in the place of a copy that it closed itself is left alone.
class SocketDescriptor {
 public:
  // Non-blocking. StoreError: none is to be had.
  explicit SocketDescriptor(int family);
  SocketDescriptor(SocketDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), place_(other.place_), generation_(other.generation_) {}
  SocketDescriptor& operator=(SocketDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(place_, other.place_);
    std::swap(generation_, other.generation_);
    return *this;
  }
  ~SocketDescriptor();

  [[nodiscard]] int get() const noexcept { return fd_; }

  struct Place;  // In the list of what a child must close.

 private:
  int fd_ = -1;
  Place* place_ = nullptr;
  std::uint64_t generation_;
};

}  // namespace airlock::redis
