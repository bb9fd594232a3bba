#pragma once

namespace airlock::base {

// A descriptor that a forked child does not keep: it is closed there before fork() returns. What
// the kernel gives up with the last descriptor, such as a lock, so ends with the process that opened
// it. exec closes it too if it was opened with O_CLOEXEC.
//
// At most kMax at a time in a process. A child made by a bare clone() keeps them.
class CloseOnFork {
 public:
  static constexpr int kMax = 256;

  // Takes the descriptor. StoreError (no_room) if there are too many.
  explicit CloseOnFork(int fd);
  CloseOnFork(const CloseOnFork&) = delete;
  CloseOnFork& operator=(const CloseOnFork&) = delete;
  ~CloseOnFork();  // Closes it.

  [[nodiscard]] int get() const noexcept { return fd_; }

  // Leaves it open: what has the number now is somebody else's.
  void disown() noexcept;

 private:
  int fd_;
  int slot_;
};

}  // namespace airlock::base
