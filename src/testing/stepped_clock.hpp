#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <vector>

#include "airlock/testing.hpp"
#include "base/clock.hpp"
#include "base/locks.hpp"

namespace airlock::internal {

// The clock behind a ManualClock.
class SteppedClock final : public Clock {
 public:
  void advance(Duration duration);
  void set_wall(Instant wall) noexcept { wall_ = wall; }
  [[nodiscard]] std::size_t waiting() const;

  [[nodiscard]] Instant now() noexcept override { return now_; }
  [[nodiscard]] Instant wall() noexcept override { return wall_; }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override;

 private:
  struct Wait;

  bool wake_due();

  std::atomic<Instant> now_{std::chrono::seconds(1'000)};
  std::atomic<Instant> wall_{std::chrono::seconds(1'767'225'600)};  // 2026-01-01 00:00:00 UTC
  mutable base::StdMutex mutex_;
  std::vector<Wait*> waits_ AIRLOCK_GUARDED_BY(mutex_);
};

[[nodiscard]] Clock& clock_of(testing::ManualClock& clock) noexcept;

}  // namespace airlock::internal

namespace airlock::testing {

// As the public one.
[[nodiscard]] Store memory_store(Clock& clock);

}  // namespace airlock::testing
