#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

// What clients did at one gate, and when: the input of check().

namespace airlock::lincheck {

// Of CLOCK_MONOTONIC, in nanoseconds; the same in every process.
using Time = std::int64_t;

inline constexpr Time kNever = std::numeric_limits<Time>::max();

[[nodiscard]] inline Time now() noexcept {
  using std::chrono::nanoseconds;
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<nanoseconds>(since).count();
}

enum class Kind : std::uint8_t {
  ask,      // To be let in, or to claim.
  join,     // The same, or a place in the line.
  leave,    // The line.
  release,  // A token: a visitor and a fence.
  renew,    // The same.
  look,     // How much is in use?
  take,     // From a rate.
  death,    // Of the client: what was bound to it ends, some time after this was called.
};

enum class Result : std::uint8_t {
  granted,
  repeated,  // Granted before.
  queued,
  refused,
  yes,
  no,
  seen,
  odd,  // An answer that nobody may get.
};

// One call. Plain bytes, so that it can be written where it survives who writes it.
struct Operation {
  std::uint8_t client = 0;
  Kind kind = Kind::ask;
  std::uint8_t visitor = 0;
  std::uint32_t weight = 1;  // Or the cost.
  std::uint64_t fence = 0;   // Of the token that is released or renewed, or was granted.

  Result result = Result::odd;
  std::uint32_t number = 0;  // Queued: the position. Seen: what is in use. Granted: the slot.

  // The step happened at one moment between these. Never answered: at any moment after the call, or
  // not at all.
  Time called = 0;
  Time returned = kNever;

  [[nodiscard]] bool is_answered() const noexcept { return returned != kNever; }
};

inline constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

using History = std::vector<Operation>;

// A line per operation, in the order of the calls; times since the first of them, fences by rank.
[[nodiscard]] std::string text(const History& history);

// The same of a part of it, with the times and ranks that they have in the whole.
[[nodiscard]] std::string text(const History& part, const History& whole);

}  // namespace airlock::lincheck
