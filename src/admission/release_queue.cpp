#include "admission/release_queue.hpp"

#include <thread>

#include "base/locks.hpp"

namespace airlock::internal {
namespace {

constexpr Duration kRetry = std::chrono::milliseconds(100);
constexpr std::size_t kTogether = 128;

}  // namespace

void ReleaseQueue::add(const Token& token, Instant until) noexcept {
  const bool is_noted = store_.release_soon(token, until, false);
  const base::LockGuard lock(mutex_);
  queue_.push_back({token, until, is_noted});
  ++unconfirmed_;
}

// What is new, or else what has failed, if its time has come.
std::vector<ReleaseItem> ReleaseQueue::take() {
  const base::LockGuard lock(mutex_);
  std::deque<Item>& from = queue_.empty() ? failed_ : queue_;
  if (&from == &failed_ && store_.clock().now() < next_retry_) return {};
  std::vector<ReleaseItem> items;
  for (; !from.empty() && items.size() < kTogether; from.pop_front()) {
    items.push_back({.token = from.front().token, .is_noted = from.front().is_noted});
    sending_.push_back(from.front());
  }
  return items;
}

// The rest is worth another try, unless the store has ended it by itself.
bool ReleaseQueue::put_back(const std::vector<ReleaseItem>& items) {
  const base::LockGuard lock(mutex_);
  const Instant now = store_.clock().now();
  bool any = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_over || now >= sending_[i].until) {
      --unconfirmed_;
      any = true;
    } else {
      failed_.push_back(sending_[i]);
      next_retry_ = now + kRetry;
    }
  }
  sending_.clear();
  return any;
}

bool ReleaseQueue::send() {
  bool any = false;
  for (std::vector<ReleaseItem> items = take(); !items.empty(); items = take()) {
    store_.release_all(items);
    any = put_back(items) || any;
  }
  return any;
}

// Real time: whoever steps a clock is not here to do it.
void ReleaseQueue::flush(Duration at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  for (;;) {
    {
      const base::LockGuard lock(mutex_);
      next_retry_ = Instant{0};
    }
    (void)send();
    {
      const base::LockGuard lock(mutex_);
      if (failed_.empty()) return;
    }
    if (std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace airlock::internal
