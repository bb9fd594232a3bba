#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <thread>
#include <utility>

namespace airlock {

// A T that this process and its forked children see.
template <typename T>
class SharedValue {
 public:
  SharedValue()
      : value_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                         0)) T()) {}
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;
  ~SharedValue() { munmap(value_, sizeof(T)); }

  T& operator*() const noexcept { return *value_; }
  T* operator->() const noexcept { return value_; }

 private:
  T* value_;
};

// A forked process that does `work` and ends; killed in the end if it has not.
class Child {
 public:
  Child() = default;
  explicit Child(const std::function<void()>& work) : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(900);  // Nothing is left behind if the test itself dies.
    try {
      work();
    } catch (const std::exception& error) {
      dprintf(2, "child %d: %s\n", getpid(), error.what());
      _exit(1);
    }
    _exit(0);
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Child() { kill_and_wait(); }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void signal(int number) const noexcept { ::kill(pid_, number); }
  void kill() const noexcept { signal(SIGKILL); }
  void kill_and_wait() noexcept {
    if (pid_ <= 0) return;
    kill();
    (void)wait();
  }
  // True: it ended by itself and all was well.
  bool wait() noexcept {
    int status = -1;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  [[nodiscard]] bool has_ended() const noexcept {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }
  void wait_until_stopped() const noexcept {
    int status = 0;
    while (waitpid(pid_, &status, WUNTRACED) == pid_ && !WIFSTOPPED(status)) {
    }
  }

 private:
  pid_t pid_ = -1;
};

// True when it is so, false when it was not for long.
template <typename Condition>
[[nodiscard]] bool becomes_true(Condition condition,
                                std::chrono::milliseconds at_most = std::chrono::minutes(3)) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

}  // namespace airlock
