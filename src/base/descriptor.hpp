#pragma once

namespace airlock::base {

// Moves a descriptor to 3 or above, with CLOEXEC; one that is there already, or below 0, is returned as
// it is. Every descriptor that the library opens goes through this: on 0 to 2, which a program may have
// closed, it would get what the program prints. Below 0: there is no room, errno says so.
[[nodiscard]] int above_stdio(int fd) noexcept;

// A descriptor of this library, never 0, 1 or 2, closed in the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(above_stdio(fd)) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept;

 private:
  int fd_ = -1;
};

// Keeps the open file of a descriptor, and with it its locks, when the descriptor is closed. A forked
// child has no part in it, neither has what is executed, and close_range() cannot end it.
class KeptFile {
 public:
  KeptFile() = default;
  // REQUIRES: a regular file of at least a page, and no fork() before this returns (NoFork).
  explicit KeptFile(const Descriptor& fd);
  KeptFile(KeptFile&& other) noexcept;
  KeptFile& operator=(KeptFile&& other) noexcept;
  ~KeptFile();

 private:
  void* page_ = nullptr;
};

}  // namespace airlock::base
