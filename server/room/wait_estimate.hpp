#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "airlock/duration.hpp"
#include "room/words.hpp"

namespace airlock::server {

// What a wait is expected to be, with what is not known of it: about two waits out of three end between the two.
struct WaitRange {
  Duration low{0};
  Duration high{0};
};

// The mean interval between grants, and how many grants it is the mean of.
struct Pace {
  Duration interval{0};
  std::uint64_t grants = 0;
};

// `place` is 1 for the next one. Nothing where the pace is not known.
[[nodiscard]] std::optional<WaitRange> expected_wait(std::uint32_t place, const Pace& pace);

// Rounded away from each other to whole minutes or hours: "About 4 to 6 minutes".
[[nodiscard]] std::string wait_text(const Words& words, const std::optional<WaitRange>& wait);

// Measures the pace of a gate from how many it has granted. For one thread.
class PaceMeter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  void add(TimePoint now, std::uint64_t granted);
  [[nodiscard]] Pace pace() const;

 private:
  struct Sample {
    TimePoint time;
    std::uint64_t granted;
  };

  std::deque<Sample> samples_;
};

}  // namespace airlock::server
