#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <thread>

#include "base/mutex.hpp"

namespace airlock::internal {

// Runs the callbacks of a registry: without its mutex, and so that whoever removes one can wait until it
// has run. Every store has a registry of those who watch (Backend::watch); they differ in what a callback
// is found by: a visit (memory), a number that other processes know (shm), the key that a message carries
// (Redis). What they have in common is this.
//
//   void Registry::call(const Key& key) {                 void Registry::remove(const Key& key) {
//     const base::LockGuard lock(mutex_);                   std::function<void()> unused;
//     std::function<void()> callback = take(key);           const base::LockGuard lock(mutex_);
//     if (callback) runner_.run(mutex_, key, callback);     unused = take(key);
//   }                                                       runner_.wait(mutex_, key);
//                                                         }
//
// `unused` is destroyed after the lock: a callback may own anything.
template <typename Key>
class CallbackRunner {
 public:
  // Unlocks the mutex, runs the callback and destroys it, locks. What it throws is dropped: the step that
  // it is notified of is done.
  void run(base::Mutex& mutex, const Key& key, std::function<void()>& callback) noexcept
      AIRLOCK_REQUIRES(mutex) {
    Running running{key, std::this_thread::get_id(), running_};
    running_ = &running;
    mutex.unlock();
    try {
      callback();
    } catch (...) {  // NOLINT(bugprone-empty-catch): as said
    }
    callback = nullptr;
    mutex.lock();
    Running** link = &running_;
    while (*link != &running) link = &(*link)->next;
    *link = running.next;
    if (waiting_ > 0) ran_.notify_all();
  }

  // Returns when no other thread runs the callback of `key`. A callback may remove itself.
  template <typename SameKey>
  void wait(base::Mutex& mutex, const SameKey& key) AIRLOCK_REQUIRES(mutex) {
    ++waiting_;
    while (runs_elsewhere(key)) ran_.wait(mutex);
    --waiting_;
  }

 private:
  struct Running {
    const Key& key;
    std::thread::id thread;
    Running* next;
  };

  template <typename SameKey>
  [[nodiscard]] bool runs_elsewhere(const SameKey& key) const noexcept {
    for (const Running* at = running_; at != nullptr; at = at->next) {
      if (at->key == key) return at->thread != std::this_thread::get_id();
    }
    return false;
  }

  Running* running_ = nullptr;
  std::size_t waiting_ = 0;
  std::condition_variable_any ran_;
};

}  // namespace airlock::internal
