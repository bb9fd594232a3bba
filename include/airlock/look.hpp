#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/outcome.hpp"
#include "airlock/rate.hpp"
#include "airlock/request.hpp"
#include "airlock/token.hpp"

// What an operator sees of a gate, expired things left out. One consistent moment; docs/guarantees.md
// says where a store reads large gates in portions.

namespace airlock {

struct HolderView {
  VisitorId visitor;
  std::string label;
  Fence fence = 0;
  std::uint32_t weight = 1;
  Slot slot = {};
  Duration age{0};  // Since the grant.
  Duration remaining{0};
  bool claimed = true;  // false: handed over, not yet claimed.
  bool revoked = false;
  Hold hold = Hold::bound;
};

struct WaiterView {
  VisitorId visitor;
  std::string label;
  std::uint32_t weight = 1;
  std::uint16_t priority = 0;
  Duration waited{0};
  bool present = true;  // false: passed over until it asks again.
  Hold hold = Hold::bound;
};

struct RateView {
  Rate rate;
  RateInfo info;
};

struct PauseView {
  std::string reporter;  // Empty: the operator.
  Duration remaining{0};
};

// Bumped in the deciding step. They live as long as the gate does.
struct Counters {
  static constexpr std::size_t kWaitBuckets = 12;
  // Upper bounds of the wait histogram; the last bucket has none.
  static constexpr std::array<Duration, kWaitBuckets - 1> kWaitBounds = {
      Duration(1'000),      Duration(5'000),      Duration(10'000),     Duration(50'000),
      Duration(100'000),    Duration(500'000),    Duration(1'000'000),  Duration(5'000'000),
      Duration(10'000'000), Duration(60'000'000), Duration(300'000'000)};

  std::uint64_t granted = 0;
  std::array<std::uint64_t, kReasons> refused = {};  // By Reason.
  std::uint64_t expired = 0;                         // Leases that ran out.
  std::uint64_t revoked = 0;                         // Leases that an operator took back.
  std::uint64_t died = 0;                            // Leases whose process ended.
  std::uint64_t missed = 0;                          // Hand-overs that nobody claimed.
  std::uint64_t abandoned = 0;                       // Waiters that left or lost patience.
  std::array<std::uint64_t, kWaitBuckets> waits = {};
  Duration wait_sum{0};

  friend bool operator==(const Counters&, const Counters&) = default;
};

struct GateCounts {
  std::uint32_t in_use = 0;  // Weight.
  std::uint32_t limit = 0;  // In effect now. 0: closed by an operator, or nobody asked for permits.
  bool overridden = false;  // An operator has set the limit.
  std::uint32_t holders = 0;
  std::uint32_t waiting = 0;
  bool exclusive =
      false;  // A lock: weights tell readers and the writer apart and mean nothing else.

  friend bool operator==(const GateCounts&, const GateCounts&) = default;
};

// The counts as people and metrics show them: a lock is one permit, in use by its writer or by all
// of its readers together (`holders` counts them). Other gates as they are.
[[nodiscard]] constexpr GateCounts displayed(GateCounts counts) noexcept {
  if (!counts.exclusive) return counts;
  counts.in_use = counts.holders != 0 ? 1 : 0;
  counts.limit = counts.limit != 0 ? 1 : 0;
  return counts;
}

struct GateView {
  std::string name;
  GateCounts counts;
  std::optional<std::uint32_t> override_limit = {};
  bool limits_disagree = false;  // Visitors of this gate came with different limits.
  Order order = Order::fifo;
  Fence last_fence = 0;
  std::vector<HolderView> holders = {};  // Oldest first.
  std::vector<WaiterView> line = {};     // In the order of service.
  std::vector<RateView> rates = {};
  std::vector<PauseView> pauses = {};
  Counters counters = {};
};

// One gate of a survey.
struct GateSummary {
  GateView gate;  // Its line is left out, and its holders but for the only one of a lock.
  std::string unreadable = {};  // Not empty: why only its name is known.
};

}  // namespace airlock
