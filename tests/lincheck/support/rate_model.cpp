#include "lincheck/support/rate_model.hpp"

#include <algorithm>

namespace airlock::lincheck {
namespace {

bool may_pass(const Operation& operation) {
  return !operation.is_answered() || operation.result == Result::granted;
}
bool may_be_refused(const Operation& operation) {
  return !operation.is_answered() || operation.result == Result::refused;
}

}  // namespace

std::vector<RateModel::State> RateModel::after(const State& state, const Operation& operation,
                                               const Span& span) const {
  const Micros when{(span.earliest + offset_low) / 1000, (span.latest + offset_high) / 1000};
  std::vector<State> all;
  switch (rate.algorithm) {
    case Rate::Algorithm::gcra:
      gcra(state, operation, when, all);
      break;
    case Rate::Algorithm::sliding_window:
      sliding(state, operation, when, all);
      break;
    case Rate::Algorithm::fixed_window:
      fixed(state, operation, when, all);
      break;
    case Rate::Algorithm::no_limit:
      if (may_pass(operation)) all.push_back(state);
      break;
  }
  return all;
}

// It passes where the arrival time is at most `room` ahead: the later, the better. What the answer
// says about the arrival time makes the bounds narrower.
void RateModel::gcra(State state, const Operation& operation, Micros when,
                     std::vector<State>& all) const {
  const Wide period = rate.period.count();
  const Wide burst = rate.burst != 0 ? rate.burst : rate.count;
  const Wide room = (burst - operation.weight) * period;
  const Wide early = Wide{when.low} * rate.count;
  const Wide late = Wide{when.high} * rate.count;
  if (may_be_refused(operation) && state.arrival_high > early + room) {
    State refused = state;
    refused.arrival_low = std::max(state.arrival_low, early + room + 1);
    all.push_back(refused);
  }
  if (may_pass(operation) && state.arrival_low <= late + room) {
    const Wide highest = std::min(state.arrival_high, late + room);
    state.arrival_low = std::max(state.arrival_low, early) + operation.weight * period;
    state.arrival_high = std::max(highest, late) + operation.weight * period;
    all.push_back(state);
  }
}

// The hits of the window before count by the part of it that is less than a period ago: less and less.
void RateModel::sliding(const State& state, const Operation& operation, Micros when,
                        std::vector<State>& all) const {
  const std::int64_t period = rate.period.count();
  const std::int64_t first = std::max(when.low / period, state.window_low);
  for (std::int64_t number = first; number <= when.high / period; ++number) {
    State next = state;
    if (number != state.window_low) {
      next.hits_before = number == state.window_low + 1 ? state.hits : 0;
      next.hits = 0;
    }
    next.window_low = next.window_high = number;
    const std::int64_t end = (number + 1) * period;
    const auto passes_at = [&](std::int64_t moment) {
      const Wide used = Wide{next.hits} * period + Wide{next.hits_before} * (end - moment);
      return used + Wide{operation.weight} * period <= Wide{rate.count} * period;
    };
    const std::int64_t earliest = std::max(when.low, end - period);
    const std::int64_t latest = std::min(when.high, end - 1);
    if (may_be_refused(operation) && !passes_at(earliest)) all.push_back(next);
    if (!may_pass(operation) || !passes_at(latest)) continue;
    next.hits += operation.weight;
    all.push_back(next);
  }
}

// A window begins with the first hit after the end of the one before.
void RateModel::fixed(const State& state, const Operation& operation, Micros when,
                      std::vector<State>& all) const {
  const std::int64_t period = rate.period.count();
  const auto decide = [&](State next) {
    const bool passes = next.hits + operation.weight <= rate.count;
    if (!passes && may_be_refused(operation)) all.push_back(next);
    if (!passes || !may_pass(operation)) return;
    next.hits += operation.weight;
    all.push_back(next);
  };
  if (when.low < state.window_high + period) {  // It may be open still.
    State open = state;
    open.window_low = std::max(open.window_low, when.low - period + 1);
    decide(open);
  }
  if (when.high >= state.window_low + period) {  // It may be over.
    State fresh = state;
    fresh.window_low = std::max(when.low, state.window_low + period);
    fresh.window_high = when.high;
    fresh.hits = 0;
    decide(fresh);
  }
}

}  // namespace airlock::lincheck
