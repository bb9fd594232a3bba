#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "airlock/rate.hpp"
#include "lincheck/support/check.hpp"

namespace airlock::lincheck {

// What a rate promises: each answer is the one that its algorithm gives at some moment between call
// and return, with moments that never go back from one step to the next.
//
// Which moment it was nobody knows, so the state is kept as what it may lie between. Two bounds forget
// that one moment decides both about the answer and about the state after it, so a wrong answer may
// pass that a clock a call's duration earlier or later would have given; a right one never fails.
// Where a window may have ended or not, both are tried.
struct RateModel {
  Rate rate;
  // From the clock of the history to the clock of the store, between these.
  Time offset_low = 0;
  Time offset_high = 0;

  __extension__ using Wide = __int128;

  struct State {
    // GCRA: the theoretical arrival time, in us / count, between these.
    Wide arrival_low = 0;
    Wide arrival_high = 0;
    // Windows: hits in the window and, sliding, in the one before it. A sliding window has a number; a
    // fixed one began between two moments.
    std::int64_t window_low = kNoWindow;
    std::int64_t window_high = kNoWindow;
    std::uint64_t hits = 0;
    std::uint64_t hits_before = 0;
    friend auto operator<=>(const State&, const State&) = default;
  };
  static constexpr std::int64_t kNoWindow = -1'000'000'000'000'000;

  [[nodiscard]] static State start() { return {}; }
  [[nodiscard]] std::vector<State> after(const State& state, const Operation& operation,
                                         const Span& span) const;

 private:
  // Microseconds of the store's clock, both inclusive.
  struct Micros {
    std::int64_t low;
    std::int64_t high;
  };
  void gcra(State state, const Operation& operation, Micros when, std::vector<State>& all) const;
  void sliding(const State& state, const Operation& operation, Micros when,
               std::vector<State>& all) const;
  void fixed(const State& state, const Operation& operation, Micros when,
             std::vector<State>& all) const;
};

}  // namespace airlock::lincheck
