#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/descriptor.hpp"
#include "base/posix.hpp"

namespace airlock::redis {

// Wakes a thread that polls: fd() is readable from signal() until the next reset().
class EventFd {
 public:
  EventFd() : fd_(base::above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
    if (fd_ < 0) base::throw_errno("eventfd", errno);
  }
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;
  ~EventFd() { close(fd_); }

  void signal() const noexcept {
    const std::uint64_t one = 1;
    (void)!write(fd_, &one, sizeof(one));
  }
  void reset() const noexcept {
    std::uint64_t signals = 0;
    (void)!read(fd_, &signals, sizeof(signals));
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  const int fd_;
};

}  // namespace airlock::redis
