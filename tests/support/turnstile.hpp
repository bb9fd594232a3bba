#pragma once

#include <condition_variable>
#include <mutex>

namespace airlock {

// Holds a thread up at a place until the test lets it go.
class Turnstile {
 public:
  Turnstile() = default;
  Turnstile(const Turnstile&) = delete;
  Turnstile& operator=(const Turnstile&) = delete;
  // Lets go whoever is held, and waits until it has gone.
  ~Turnstile() {
    open();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_ == 0; });
  }

  void pass() {
    std::unique_lock lock(mutex_);
    ++held_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --held_;
    changed_.notify_all();
  }
  void await_somebody() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_ > 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int held_ = 0;
  bool open_ = false;
};

}  // namespace airlock
