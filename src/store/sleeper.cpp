#include "store/sleeper.hpp"

#include <utility>

namespace airlock {

void Sleeper::wake(bool news) noexcept {
  std::unique_lock lock(mutex_);
  woken_ = true;
  news_ = news_ || news;
  if (rouse_) return rouse_();
  lock.unlock();
  changed_.notify_one();
}

bool Sleeper::sleep(Clock& clock, Instant deadline) {
  std::unique_lock lock(mutex_);
  while (!woken_ && clock.now() < deadline) clock.wait_until(lock, changed_, deadline);
  return take_news();
}

bool Sleeper::lie_down(std::function<void()> rouse) {
  const std::lock_guard lock(mutex_);
  rouse_ = std::move(rouse);
  return !woken_;
}

bool Sleeper::get_up() noexcept {
  const std::lock_guard lock(mutex_);
  rouse_ = nullptr;
  return take_news();
}

// REQUIRES: the mutex.
bool Sleeper::take_news() noexcept {
  woken_ = false;
  return std::exchange(news_, false);
}

}  // namespace airlock
