#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.hpp"

namespace airlock::testing {

// Time that a test sets as it likes, also back.
class AnyClock final : public Clock {
 public:
  Instant now() noexcept override { return time; }
  Instant wall() noexcept override { return time.load() + wall_ahead.load(); }
  void wait_until(std::unique_lock<std::mutex>& /*lock*/, std::condition_variable& /*changed*/,
                  Instant /*deadline*/) override {}

  void advance(Duration by) { time = time.load() + by; }

  std::atomic<Instant> time{Instant(std::chrono::seconds(1'767'225'600))};
  std::atomic<Duration> wall_ahead{Duration(0)};
};

}  // namespace airlock::testing
