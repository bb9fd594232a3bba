#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX
#include <sys/signalfd.h>

#include <chrono>
#include <optional>
#include <utility>

namespace airlock::cli {

// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const noexcept { return fd_; }

  // What a system call returned. Exit with 71 if that is an error, which names what it was for.
  [[nodiscard]] static Descriptor checked(int fd, const char* purpose);

 private:
  int fd_;
};

// The signals of this process as something to read: blocked in all threads that are made after it.
// Signals that were ignored when the command began, as under nohup, stay so.
class Signals {
 public:
  Signals();  // Exit with 71 if there is no descriptor for it.
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() = default;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::optional<signalfd_siginfo> next();

  // Reads all that came: the last one that ends a process, or 0. Stops where told to.
  [[nodiscard]] int next_fatal();

  // The mask that the command was started with, for its child.
  [[nodiscard]] const sigset_t& inherited() const noexcept { return before_; }

 private:
  sigset_t before_{};
  Descriptor fd_;
};

// Stops this process as SIGTSTP does: not where nobody could continue it.
void stop_self() noexcept;

// Waits until `fd` is readable: true; or there is a signal, or the time is over: false.
[[nodiscard]] bool poll_readable(int fd, const Signals& signals, std::chrono::milliseconds at_most);

}  // namespace airlock::cli
