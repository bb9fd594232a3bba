#include "store/sleeper.hpp"

#include <utility>

namespace airlock {

void Sleeper::wake(bool news) noexcept {
  base::UniqueLock lock(mutex_);
  woken_ = true;
  news_ = news_ || news;
  if (on_wake_) return on_wake_();
  lock.unlock();
  changed_.notify_one();
}

bool Sleeper::sleep(Clock& clock, Instant deadline) {
  base::UniqueLock lock(mutex_);
  while (!woken_ && clock.now() < deadline) clock.wait_until(lock, changed_, deadline);
  return take_news();
}

bool Sleeper::park(std::function<void()> on_wake) {
  const base::LockGuard lock(mutex_);
  on_wake_ = std::move(on_wake);
  return !woken_;
}

bool Sleeper::unpark() noexcept {
  const base::LockGuard lock(mutex_);
  on_wake_ = nullptr;
  return take_news();
}

bool Sleeper::take_news() noexcept {
  woken_ = false;
  return std::exchange(news_, false);
}

}  // namespace airlock
