#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/descriptor.hpp"
#include "base/posix.hpp"

namespace airlock::redis {

// Wakes a thread that polls: fd() is readable from a ring to the next reset().
class Bell {
 public:
  Bell() : fd_(base::above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
    if (fd_ < 0) base::throw_errno("eventfd", errno);
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell() { close(fd_); }

  void ring() const noexcept {
    const std::uint64_t one = 1;
    (void)!write(fd_, &one, sizeof(one));
  }
  void reset() const noexcept {
    std::uint64_t rung = 0;
    (void)!read(fd_, &rung, sizeof(rung));
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  const int fd_;
};

}  // namespace airlock::redis
