#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "store/backend.hpp"

namespace airlock::internal {

// Releases that nobody waits for: many are sent together, and again until it works. What has failed
// comes after the rest, so that one server that is down delays none of the others.
//
// It uses the mutex of its owner, who can so read next() and its own state in one critical section.
class ReleaseQueue {
 public:
  ReleaseQueue(Backend& store, base::Mutex& mutex) noexcept : store_(store), mutex_(mutex) {}

  // Pointless after `until`, when the store has ended it by itself. Fence 0: whatever the visitor
  // has at the gate.
  void add(const Token& token, Instant until) noexcept;

  // Sends what can be sent now. False: that was nothing.
  bool send();

  // For at most so long.
  void flush(Duration at_most);

  // For the owner, which holds the mutex.
  [[nodiscard]] Instant next() const noexcept {
    mutex_.assert_held();
    if (!queue_.empty()) return Instant{0};
    return failed_.empty() ? kForever : next_retry_;
  }
  [[nodiscard]] bool is_empty() const noexcept {
    mutex_.assert_held();
    return unconfirmed_ == 0;
  }

 private:
  struct Item {
    Token token;
    Instant until;
    bool is_noted;
  };

  [[nodiscard]] std::vector<ReleaseItem> take() AIRLOCK_EXCLUDES(mutex_);
  bool put_back(const std::vector<ReleaseItem>& items) AIRLOCK_EXCLUDES(mutex_);

  Backend& store_;
  base::Mutex& mutex_;
  std::deque<Item> queue_ AIRLOCK_GUARDED_BY(mutex_);
  std::deque<Item> failed_ AIRLOCK_GUARDED_BY(mutex_);
  std::vector<Item> sending_ AIRLOCK_GUARDED_BY(mutex_);
  std::size_t unconfirmed_ AIRLOCK_GUARDED_BY(mutex_) = 0;  // With those that are being sent.
  Instant next_retry_ AIRLOCK_GUARDED_BY(mutex_){0};        // Of those that have failed.
};

}  // namespace airlock::internal
