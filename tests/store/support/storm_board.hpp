#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "airlock/store.hpp"
#include "airlock/token.hpp"
#include "base/clock.hpp"

namespace airlock::testing {

struct StormPlan {
  std::function<Store()> open;  // In every process.
  std::uint32_t workers = 12;
  std::uint32_t limit = 3;
  Duration ttl = std::chrono::milliseconds(600);
  Duration timeout = std::chrono::milliseconds(500);  // Of the store.
  Duration max_wait = std::chrono::seconds(5);
  Duration patience = std::chrono::seconds(2);
  Duration claim_window = std::chrono::milliseconds(200);
  // Most stay inside for a moment, one in so many longer, so that it is renewed.
  std::uint32_t long_holds = 200;
  Duration longest_hold = std::chrono::milliseconds(1200);
  // Whether a waiter that was neither stopped nor kept from running is never passed. Otherwise only
  // who was in before another came is compared with it.
  bool keeps_order = true;
  bool forks = false;
  bool refuses = false;  // The server refuses commands, and says that an operator is needed.
  std::uint64_t seed = 1;
};

[[nodiscard]] inline Instant storm_now() { return Clock::system().now(); }

// What the processes of a storm see of each other, beside the store.
struct StormBoard {
  static constexpr std::size_t kSeats = 128;
  static constexpr std::size_t kVisits = std::size_t{1} << 19;

  struct Seat {
    std::atomic<pid_t> pid = 0;  // 0: free, -1: reserved.
    std::atomic<bool> lives = false;
    std::atomic<bool> stays = false;  // A child that has done its work and lives on.
    std::atomic<Instant> asked = Instant(0);
    std::atomic<Instant> inside_until = Instant(0);  // Surely, if it lives.
    std::atomic<Instant> due = Instant(0);           // Its call returns by then. 0: it is in none.
    std::atomic<std::uint32_t> stops = 0;  // Odd from before it is stopped until after it goes on.
    std::atomic<Duration> stopped = Duration(0);  // So long, all together.
    std::atomic<std::uint32_t> long_stops = 0;    // Those that may cost it its turn.
  };
  struct Visit {
    Instant asked{0};
    Instant settled{0};  // From then on nobody who asks may be let in before it.
    Fence fence = 0;
  };

  std::array<Seat, kSeats> seats;
  std::atomic<bool> ending = false;
  std::atomic<bool> children_leave = false;
  std::atomic<Instant> believed_since = Instant(0);
  std::atomic<Instant> last_entry = Instant(0);
  std::atomic<std::uint32_t> blocked = 0;  // Changes when one is stopped in the middle of a step.

  std::atomic<std::uint64_t> visits = 0, in_vain = 0, failures = 0, broken = 0, forks = 0,
                             checks = 0;
  std::atomic<std::uint64_t> too_many = 0, gone = 0, late = 0, compared = 0;
  std::atomic<std::size_t> noted = 0;
  std::array<Visit, kVisits> log;

  // True: more are surely inside than `limit`. All words twice, the same: at the moment in between
  // they were true together. If they do not stand still, nothing is said.
  [[nodiscard]] bool is_over(std::uint32_t limit);

  void note(const Visit& visit) {
    const std::size_t place = noted++;
    if (place < kVisits) log[place] = visit;
  }
  // How many went in before somebody who had settled before they came.
  [[nodiscard]] std::uint64_t order_violations() const;

  // For a child; null: none is free.
  [[nodiscard]] Seat* take_seat(std::size_t first);
};

}  // namespace airlock::testing
