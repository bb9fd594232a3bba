#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/request.hpp"
#include "airlock/store.hpp"

// Random steps of a store, made so that things fill up, expire, lapse and refill: few gates, few visitors, and lengths
// of time from so small a set that deadlines are often met to the microsecond.

namespace airlock::trial {

using namespace std::chrono_literals;

inline std::string gate_text(std::size_t number) { return "g/" + std::to_string(number); }
inline VisitorId visitor_id(std::size_t number) { return {0x5EED, number + 1}; }

// A request that owns what it refers to.
struct Ask {
  std::size_t gate = 0;
  std::size_t visitor = 0;
  std::string label = {};
  std::optional<Permits> permits = {};
  std::vector<Rate> rates = {};
  RateMode mode = RateMode::take;
  std::uint32_t cost = 1;
  Duration max_delay = kForever;
  Duration dedupe{0};
  Line line = {};
  Hold hold = Hold::bound;

  // Valid as long as this is.
  [[nodiscard]] Request request() const {
    Request request{.gate = gate_text(gate), .visitor = visitor_id(visitor), .label = label};
    request.permits = permits;
    request.rates = rates;
    request.mode = mode;
    request.cost = cost;
    request.max_delay = max_delay;
    request.dedupe = dedupe;
    request.line = line;
    request.hold = hold;
    return request;
  }
};

enum class Step {
  admit,
  admit_all,
  leave,
  mark_absent,
  refund,
  renew,
  release,
  disown,
  adopt,
  set_limit,
  pause,
  resume,
  revoke,
  purge,
  end_owner,
  sweep,
};

struct Operation {
  Step step = Step::sweep;
  Duration after{0};           // Passes before it.
  Duration wall_jump{0};       // And the wall clock jumps.
  std::vector<Ask> asks = {};  // admit, refund: one. admit_all: several of one visitor.
  std::size_t gate = 0;
  std::size_t visitor = 0;
  std::size_t token = 0;  // Which of the tokens given out, counted from the newest.
  Duration length{0};     // ttl, pause.
  std::optional<std::uint32_t> number = {};  // Weight, limit.
  std::string reporter = {};
  bool all = false;  // revoke: every holder.
  Revoke how = Revoke::graceful;
  std::uint64_t owner = 0;

  [[nodiscard]] std::string text() const;
};

// How an episode's visitors behave.
struct Profile {
  std::size_t gates = 3;
  std::size_t visitors = 8;
  std::uint32_t highest_limit = 4;
  std::size_t crowd = 0;  // So many come first, and stay for an hour.
  bool groups = true;     // Asks several gates together now and then.
  bool lotteries = true;
  bool plain = false;      // Permits alone, one each, in order of arrival: what has short ways.
  bool owners_end = true;  // Processes die now and then.
  bool long_waits = true;  // Time may pass by the hour, so that idle gates are forgotten.
};

class Generator {
 public:
  Generator(std::uint64_t seed, const Profile& profile);

  [[nodiscard]] Operation next();

 private:
  // What is usual at one gate.
  struct Habit {
    Permits permits;
    bool has_permits = true;
    std::vector<Rate> rates;
    Order order = Order::fifo;
    Aging aging;
  };

  [[nodiscard]] bool chance(unsigned percent) { return random_() % 100 < percent; }
  [[nodiscard]] std::size_t below(std::size_t n) { return random_() % n; }
  template <typename Values>
  [[nodiscard]] auto one_of(const Values& values) {
    return values[below(std::size(values))];
  }
  template <typename T>
  [[nodiscard]] T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

  [[nodiscard]] Duration time_step();
  [[nodiscard]] Duration length();
  [[nodiscard]] Rate rate();
  [[nodiscard]] Habit habit();
  [[nodiscard]] Ask ask();
  [[nodiscard]] Line line(const Habit& habit);
  void make_unusual(Ask& ask);
  void fill_ask(Operation& operation);
  void fill_group(Operation& operation);
  [[nodiscard]] Step step();
  [[nodiscard]] Operation one_of_the_crowd();

  std::mt19937_64 random_;
  Profile profile_;
  std::vector<Habit> habits_;
  std::size_t made_ = 0;
  unsigned busy_ = 0;  // Percent of the operations that ask.
};

// --- text ---

inline std::string text_of(const Ask& ask) {
  std::ostringstream out;
  out << gate_text(ask.gate) << " visitor " << ask.visitor;
  if (ask.permits) {
    out << " permits{" << ask.permits->limit << ", weight " << ask.permits->weight << ", ttl "
        << to_text(ask.permits->ttl) << (ask.permits->exclusive ? ", exclusive" : "") << "}";
  }
  for (const Rate& rate : ask.rates) out << " rate{" << rate.text() << "}";
  if (!ask.rates.empty()) out << " cost " << ask.cost;
  constexpr std::array kModes = {"", " peek", " at_most", " reserve"};
  out << kModes.at(static_cast<std::size_t>(ask.mode));
  if (ask.max_delay != kForever) out << " max_delay " << to_text(ask.max_delay);
  if (ask.dedupe != 0us) out << " dedupe " << to_text(ask.dedupe);
  constexpr std::array kOrders = {"fifo", "priority", "lottery", "aging"};
  if (ask.line.join) {
    out << " join{" << kOrders.at(static_cast<std::size_t>(ask.line.order)) << ", priority "
        << ask.line.priority << ", patience " << to_text(ask.line.patience) << ", window "
        << to_text(ask.line.claim_window) << ", max_waiting " << ask.line.max_waiting
        << ", max_eta " << to_text(ask.line.max_eta) << "}";
  }
  if (ask.line.returning) out << " returning";
  if (ask.line.barging) out << " barging";
  if (ask.hold == Hold::detached) out << " detached";
  return out.str();
}

inline std::string Operation::text() const {
  constexpr std::array kSteps = {
      "admit", "admit_all", "leave", "mark_absent", "refund", "renew", "release",   "disown",
      "adopt", "set_limit", "pause", "resume",      "revoke", "purge", "end_owner", "sweep"};
  std::ostringstream out;
  out << "+" << to_text(after) << " " << kSteps.at(static_cast<std::size_t>(step));
  if (wall_jump != 0us) out << " (wall " << wall_jump.count() << " us)";
  for (const Ask& ask : asks) out << " [" << text_of(ask) << "]";
  if (asks.empty()) {
    out << " gate " << gate_text(gate) << " visitor " << (all ? "all" : std::to_string(visitor))
        << " token " << token << " owner " << owner << " length " << to_text(length) << " number "
        << (number ? std::to_string(*number) : "none") << " reporter '" << reporter << "'"
        << (how == Revoke::now ? " now" : "");
  }
  return out.str();
}

// --- choices ---

inline Generator::Generator(std::uint64_t seed, const Profile& profile)
    : random_(seed), profile_(profile) {
  for (std::size_t i = 0; i < profile_.gates; ++i) habits_.push_back(habit());
  busy_ = one_of({30U, 50U, 70U});
}

inline Duration Generator::length() {
  constexpr std::array<Duration, 10> kLengths = {1us,   2us, 10ms, 100ms, 100ms,
                                                 500ms, 1s,  1s,   3s,    10s};
  return one_of(kLengths);
}

inline Duration Generator::time_step() {
  if (chance(45)) return 0us;
  if (chance(10)) return Duration(1 + below(5));
  if (profile_.long_waits && chance(1))
    return one_of({Duration(1min), Duration(10min), Duration(1h)});
  const Duration step = chance(60) ? length() / one_of({1, 2, 3, 10}) : Duration(below(2'000'000));
  return chance(20) && step > 0us ? step - 1us : step;
}

inline Rate Generator::rate() {
  constexpr std::array<Duration, 5> kPeriods = {7us, 100ms, 999'983us, 1s, 10s};
  Rate rate;
  rate.algorithm = one_of({Rate::Algorithm::gcra, Rate::Algorithm::gcra,
                           Rate::Algorithm::sliding_window, Rate::Algorithm::fixed_window});
  rate.count = one_of({1U, 2U, 3U, 7U, 10U});
  rate.period = one_of(kPeriods);
  if (rate.algorithm == Rate::Algorithm::gcra && chance(40)) rate.burst = one_of({1U, 2U, 5U, 20U});
  if (chance(3)) rate = {.algorithm = Rate::Algorithm::no_limit};
  return rate;
}

inline Generator::Habit Generator::habit() {
  Habit habit;
  habit.permits = {.limit = 1 + static_cast<std::uint32_t>(below(profile_.highest_limit)),
                   .ttl = length(),
                   .exclusive = chance(20)};
  if (profile_.plain) return habit;
  habit.has_permits = !chance(20);
  const std::size_t rates = habit.has_permits ? below(3) : 1 + below(2);
  while (habit.rates.size() < rates) {
    const Rate added = rate();
    bool alike = false;
    for (const Rate& other : habit.rates) {
      alike = alike || (other.algorithm == added.algorithm && other.period == added.period);
    }
    if (!alike) habit.rates.push_back(added);
  }
  if (profile_.lotteries) {
    habit.order = one_of({Order::fifo, Order::priority, Order::lottery, Order::aging_lottery});
  } else {
    habit.order = one_of({Order::fifo, Order::priority});
  }
  if (chance(50)) {
    habit.aging = {.base = 1 + static_cast<std::uint32_t>(below(3)),
                   .per_second = static_cast<std::uint32_t>(below(20)),
                   .max = 3 + static_cast<std::uint32_t>(below(200))};
  }
  return habit;
}

inline Line Generator::line(const Habit& habit) {
  Line line;
  line.join = chance(65);
  line.returning = !line.join && chance(20);
  line.order = habit.order;
  line.aging = habit.aging;
  if (line.order == Order::priority) line.priority = static_cast<std::uint16_t>(below(3));
  line.barging = chance(10);
  if (chance(15)) line.max_waiting = 1 + static_cast<std::uint32_t>(below(4));
  if (chance(70)) line.patience = length();
  if (chance(70)) line.claim_window = length();
  if (chance(10)) line.max_eta = length();
  return line;
}

inline Ask Generator::ask() {
  Ask ask;
  ask.gate = below(profile_.gates);
  ask.visitor = below(profile_.visitors);
  ask.label = "v" + std::to_string(ask.visitor);
  const Habit& habit = habits_[ask.gate];
  if (habit.has_permits) {
    ask.permits = habit.permits;
    if (chance(20)) ask.permits->ttl = length();
    // The same visitor always has the same weight at a gate, however it asks.
    const auto heavy = static_cast<std::uint32_t>((ask.visitor * 7 + ask.gate * 3) % 5);
    if (!profile_.plain) {
      ask.permits->weight = 1 + (heavy < 3 ? 0 : heavy - 2) % habit.permits.limit;
    }
  }
  ask.rates = habit.rates;
  ask.line = line(habit);
  if (chance(20)) ask.hold = Hold::detached;
  return ask;
}

// What one visitor in a few does differently from the others.
inline void Generator::make_unusual(Ask& ask) {
  switch (below(8)) {
    case 0:
      if (ask.permits)
        ask.permits->limit = ask.permits->weight + static_cast<std::uint32_t>(below(4));
      break;
    case 1:
      if (ask.permits) ask.permits->exclusive = !ask.permits->exclusive;
      break;
    case 2:
      if (ask.permits)
        ask.permits->weight = 1 + static_cast<std::uint32_t>(below(ask.permits->limit));
      break;
    case 3:
      for (Rate& rate : ask.rates) {
        if (rate.algorithm != Rate::Algorithm::no_limit) rate.count = one_of({1U, 2U, 5U, 11U});
      }
      break;
    case 4:
      ask.rates.clear();
      if (!ask.permits || chance(50)) ask.rates.push_back(rate());
      break;
    case 5:
      ask.line.order = one_of({Order::fifo, Order::priority});
      ask.line.priority = 0;
      break;
    case 6:
      if (ask.permits && !ask.rates.empty()) {
        ask.permits.reset();
      } else if (!ask.permits) {
        ask.permits = Permits{.limit = 2, .ttl = length()};
      }
      break;
    default:
      ask.cost = one_of({1U, 2U, 3U, 8U, 30U});
      break;
  }
}

inline void Generator::fill_ask(Operation& operation) {
  Ask ask = this->ask();
  if (chance(20)) make_unusual(ask);
  if (chance(20)) ask.cost = 1 + static_cast<std::uint32_t>(below(3));
  if (!ask.permits && chance(50)) {
    ask.line.join = false;
    ask.mode = one_of({RateMode::take, RateMode::peek, RateMode::at_most, RateMode::reserve});
    if (chance(30)) ask.max_delay = length();
  }
  if (!ask.permits && ask.mode == RateMode::take && chance(50)) ask.dedupe = length();
  if (ask.mode == RateMode::reserve) {
    std::erase_if(ask.rates, [](const Rate& rate) {
      return rate.algorithm == Rate::Algorithm::sliding_window ||
             rate.algorithm == Rate::Algorithm::fixed_window;
    });
    if (ask.rates.empty()) ask.rates.push_back({.count = 3, .period = 1s});
  }
  operation.gate = ask.gate;
  operation.visitor = ask.visitor;
  operation.asks.push_back(std::move(ask));
}

inline void Generator::fill_group(Operation& operation) {
  const Ask first = ask();
  const std::size_t size = 1 + below(profile_.gates);
  for (std::size_t i = 0; i < size; ++i) {
    Ask part = ask();
    part.gate = (first.gate + i) % profile_.gates;
    part.visitor = first.visitor;
    const Habit& habit = habits_[part.gate];
    const auto heavy = static_cast<std::uint32_t>((part.visitor * 7 + part.gate * 3) % 5);
    part.permits.reset();
    if (habit.has_permits) {
      part.permits = habit.permits;
      part.permits->weight = 1 + (heavy < 3 ? 0 : heavy - 2) % habit.permits.limit;
    }
    part.rates = habit.rates;
    part.label = first.label;
    part.line = line(habit);
    part.line.join = first.line.join;
    part.line.returning = false;
    if (chance(10)) make_unusual(part);
    operation.asks.push_back(part);
  }
  operation.gate = first.gate;
  operation.visitor = first.visitor;
}

inline Step Generator::step() {
  if (chance(busy_)) return profile_.groups && chance(12) ? Step::admit_all : Step::admit;
  switch (below(40)) {
    case 0:
      return Step::set_limit;
    case 1:
      return Step::pause;
    case 2:
    case 3:
      return Step::resume;
    case 4:
      return Step::revoke;
    case 5:
      return chance(30) ? Step::purge : Step::release;
    case 6:
      return profile_.owners_end && chance(30) ? Step::end_owner : Step::sweep;
    case 7:
    case 8:
      return Step::refund;
    case 9:
      return Step::disown;
    case 10:
      return Step::adopt;
    case 11:
    case 12:
    case 13:
      return Step::leave;
    case 14:
    case 20:
      return Step::mark_absent;
    case 15:
    case 16:
    case 17:
    case 18:
    case 19:
      return Step::renew;
    default:
      return Step::release;
  }
}

inline Operation Generator::one_of_the_crowd() {
  Operation operation{.step = Step::admit, .visitor = made_ % profile_.visitors};
  operation.asks.push_back({.visitor = operation.visitor, .label = "crowd"});
  operation.asks.front().permits = Permits{.limit = profile_.highest_limit, .ttl = 1h};
  return operation;
}

inline Operation Generator::next() {
  if (made_++ < profile_.crowd) return one_of_the_crowd();
  Operation operation{.step = step(), .after = time_step()};
  if (chance(1))
    operation.wall_jump = Duration(static_cast<std::int64_t>(below(2'000'000)) - 1'000'000);
  operation.gate = below(profile_.gates);
  operation.visitor = below(profile_.visitors);
  operation.token = chance(80) ? below(6) : below(40);
  operation.length = length();
  operation.owner = 1 + below(2);
  operation.reporter = one_of({"", "health", "vendor"});
  operation.all = chance(30);
  operation.how = chance(50) ? Revoke::now : Revoke::graceful;
  if (operation.step == Step::admit || operation.step == Step::refund) fill_ask(operation);
  if (operation.step == Step::admit_all) fill_group(operation);
  if (operation.step == Step::renew && chance(30)) {
    operation.number = 1 + static_cast<std::uint32_t>(below(profile_.highest_limit + 1));
  }
  if (operation.step == Step::set_limit && chance(60)) {
    operation.number = static_cast<std::uint32_t>(below(profile_.highest_limit + 2));
  }
  return operation;
}

}  // namespace airlock::trial
