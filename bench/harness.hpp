#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pinned.hpp"

// Compares one thing with another in the same run.
//
//   rows.push_back({.name = "memory: acquire + release",
//                   .against = "two (std::mutex pair + steady_clock read)",
//                   .aim = 2.0,
//                   .subject = [] { return std::make_unique<AcquireRelease>(); },
//                   .reference = [] { return std::make_unique<MutexAndClock>(2); }});
//
// Both sides are warmed up, then take turns, A B A B ..., in batches long enough for the clock. A round is one batch of
// each and has one ratio, so whatever slows the machine for longer than a round slows both. The median of the ratios is
// the result. How certain it is, and whether an aim is held, is for those to say who run the program several times:
// bench/ratios.py.

namespace airlock::bench {

// One side of a comparison.
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  // The timed part.
  virtual void run(std::uint64_t operations) = 0;

  // How long the last run took; empty: all of it counts.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> took() const {
    return std::nullopt;
  }

  // At the end, not timed: throws (see require) unless all operations so far, so many, did what the row says.
  virtual void check(std::uint64_t operations) = 0;
};

// std::logic_error, naming what does not hold: the row is broken and its numbers mean nothing.
void require(bool holds, const char* what);

enum class Time : std::uint8_t {
  // Of the measuring thread, so that other work on the machine does not count. For what never sleeps.
  cpu,
  // For what sleeps or works in several threads.
  wall,
};

struct Effort {
  std::chrono::nanoseconds warm_up;  // Of each side, at least.
  std::chrono::nanoseconds batch;    // At least.
  std::size_t rounds;
  std::chrono::nanoseconds limit;  // No new round after this; a few are always there.
};

inline constexpr Effort kFull{.warm_up = std::chrono::milliseconds(150),
                              .batch = std::chrono::milliseconds(4),
                              .rounds = 61,
                              .limit = std::chrono::milliseconds(1500)};
inline constexpr Effort kQuick{.warm_up = std::chrono::milliseconds(50),
                               .batch = std::chrono::milliseconds(2),
                               .rounds = 31,
                               .limit = std::chrono::milliseconds(500)};
// For what has many rows, each one point of a line.
inline constexpr Effort kRough{.warm_up = std::chrono::milliseconds(20),
                               .batch = std::chrono::milliseconds(2),
                               .rounds = 21,
                               .limit = std::chrono::milliseconds(500)};

struct Row {
  std::string name;           // With `against` it says what is measured.
  std::string against;        // Both stay as they are: runs are compared by them.
  std::optional<double> aim;  // The ratio is to be at most this. Empty: for the reader.
  std::function<std::unique_ptr<Subject>()> subject;  // Called when the row's turn comes.
  std::function<std::unique_ptr<Subject>()> reference;
  Time time = Time::cpu;
  Cores cores = Cores::any;
  std::optional<Effort> effort = {};  // Instead of that of the run.

  [[nodiscard]] std::string title() const { return name + ", against " + against; }
};

struct Result {
  std::string name;
  std::string against;
  double value = 0;      // Nanoseconds per operation, median over the rounds.
  double reference = 0;  // The same of the other side.
  double ratio = 0;      // Median of the rounds' ratios; near value / reference but not the same.
  std::optional<double> aim;
};

[[nodiscard]] Result measure(const Row& row, const Effort& usual);

// A cheap random number below `n`; the same sequence in every run.
class Random {
 public:
  [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept {
    x_ ^= x_ << 13;
    x_ ^= x_ >> 7;
    x_ ^= x_ << 17;
    return static_cast<std::uint32_t>((x_ >> 32) * n >> 32);
  }

 private:
  std::uint64_t x_ = 88'172'645'463'325'252;
};

}  // namespace airlock::bench
