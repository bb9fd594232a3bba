#include "lincheck/support/trial.hpp"

#include <gtest/gtest.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <algorithm>
#include <cstdio>
#include <random>
#include <thread>

#include "lincheck/support/check.hpp"
#include "lincheck/support/crew.hpp"
#include "lincheck/support/gate_model.hpp"
#include "lincheck/support/minimal.hpp"
#include "lincheck/support/rate_model.hpp"
#include "support/chaos.hpp"

namespace airlock::lincheck {
namespace {

using namespace std::chrono_literals;

// From the clock of histories to the time of day, which may be set while a history happens: seen
// before and after it.
class WallOffset {
 public:
  WallOffset() { look(); }
  void look() {
    const Time before = now();
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    const Time wall = Time{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    low_ = std::min(low_, wall - now());
    high_ = std::max(high_, wall - before);
  }
  [[nodiscard]] Time low() const noexcept { return low_ - kResolution; }
  [[nodiscard]] Time high() const noexcept { return high_ + kResolution; }

 private:
  static constexpr Time kResolution = 20'000;

  Time low_ = kNever;
  Time high_ = 0;
};

class Run {
 public:
  explicit Run(const Trial& trial)
      : trial_(trial),
        random_(trial.seed),
        crew_(trial.clients == Trial::Clients::processes, trial.open),
        access_(trial.open(kMaxClients)) {}

  Trial::Result run() {
    const Time began = now();
    const Time end = began + std::chrono::nanoseconds(trial_.at_most).count();
    while (now() < end && result_.wrong.empty()) {
      const Plan plan = next_plan();
      WallOffset offset;
      crew_.carry_out(plan);
      const History history = history_of(plan);
      offset.look();
      if (!trial_.gates_are_new) (void)access_.store.purge(plan.gate.data());
      count(history);
      judge(plan, history, offset);
      if (!crew_.wrong().empty()) result_.wrong = crew_.wrong();
    }
    result_.took = std::chrono::nanoseconds(now() - began);
    return result_;
  }

 private:
  [[nodiscard]] std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }

  // --- what to do ---

  Plan next_plan() {
    Plan plan;
    plan.subject = static_cast<Subject>(result_.histories % 4);
    const std::uint64_t gate = trial_.gates_are_new ? result_.histories : result_.histories % 50;
    std::snprintf(plan.gate.data(), plan.gate.size(), "lin%llu",
                  static_cast<unsigned long long>(gate));
    plan.seed = random_();
    plan.clients = static_cast<std::uint8_t>(2 + below(kMaxClients - 1));
    plan.operations = static_cast<std::uint8_t>(4 + below(7));
    plan.limit = plan.subject == Subject::lock ? 1 : 1 + below(5);
    plan.hold = below(2) == 0 ? Hold::bound : Hold::detached;
    if (plan.subject == Subject::line) plan.hold = trial_.line_hold;
    if (plan.subject == Subject::rate) plan.rate = next_rate();
    plan.visitors_are_shared = !trial_.kills;
    if (trial_.kills && below(2) == 0) {
      plan.victims =
          static_cast<std::uint8_t>(1U << below(plan.clients) | 1U << below(plan.clients));
      plan.killed_within = trial_.step * plan.operations;
    }
    return plan;
  }

  // Some histories are shorter than the period, some are longer.
  Rate next_rate() {
    Rate rate{.algorithm = static_cast<Rate::Algorithm>(below(3))};
    rate.count = 1 + below(6);
    rate.period = trial_.step * (10 + below(200));
    if (rate.algorithm == Rate::Algorithm::gcra) rate.burst = 1 + below(4);
    return rate;
  }

  // --- what happened ---

  History history_of(const Plan& plan) {
    History history;
    for (std::uint8_t client = 0; client < plan.clients; ++client) {
      const History part = crew_.history(client);
      history.insert(history.end(), part.begin(), part.end());
      if (!crew_.was_killed(client)) continue;
      ++result_.kills;
      if (trial_.deaths_are_seen && plan.hold == Hold::bound) {
        const Time last = part.empty() ? 0 : part.back().called;
        history.push_back(
            {.client = client, .kind = Kind::death, .visitor = client, .called = last});
      }
    }
    if (plan.subject != Subject::rate) finish(plan, history);
    return history;
  }

  // In the end somebody asks for all of it. Those who still live have given back, so it must be there
  // once the deaths are noticed. That takes a while: not every time.
  void finish(const Plan& plan, History& history) {
    const auto is_death = [](const Operation& operation) { return operation.kind == Kind::death; };
    const bool waits = std::ranges::any_of(history, is_death) && below(2) == 0;
    Ring ring;
    Client last(access_, plan, kMaxClients, ring);
    const Time give_up = now() + std::chrono::nanoseconds(5s).count();
    while (!last.ask_for_all() && waits && now() < give_up) {
      std::this_thread::sleep_for(1ms);
      ring.clear();
    }
    const History end = ring.history();
    for (Operation& operation : history) {
      if (waits && is_death(operation)) operation.returned = end.front().called - 1;
    }
    history.insert(history.end(), end.begin(), end.end());
  }

  // --- whether it can be ---

  void judge(const Plan& plan, const History& history, const WallOffset& offset) {
    const Time began = now();
    if (plan.subject == Subject::rate) {
      RateModel model{.rate = plan.rate};
      if (trial_.wall_clock) {
        model.offset_low = offset.low();
        model.offset_high = offset.high();
      }
      judge_by(model, history, plan);
    } else {
      judge_by(GateModel{.limit = plan.limit}, history, plan);
    }
    result_.checking += std::chrono::nanoseconds(now() - began);
  }

  template <typename Model>
  void judge_by(const Model& model, const History& history, const Plan& plan) {
    const Verdict verdict = check(model, history);
    if (verdict == Verdict::gave_up) ++result_.gave_up;
    if (verdict != Verdict::wrong) return;
    const std::string what = plan.subject == Subject::rate ? "rate " + plan.rate.text()
                                                           : "limit " + std::to_string(plan.limit);
    result_.wrong = "at a gate of " + what + " this cannot be:\n" +
                    Minimal<Model>(model, history).text() + "the whole history:\n" + text(history);
  }

  void count(const History& history) {
    ++result_.histories;
    result_.operations += history.size();
    History sorted = history;
    std::ranges::sort(sorted, {}, &Operation::called);
    Time last = 0;
    for (const Operation& operation : sorted) {
      if (!operation.is_answered()) {
        if (operation.kind != Kind::death) ++result_.unanswered;
        continue;
      }
      if (operation.called < last) ++result_.overlapping;
      last = std::max(last, operation.returned);
    }
  }

  const Trial& trial_;
  std::mt19937_64 random_;
  Crew crew_;  // Before anything here has threads.
  const Access access_;
  Trial::Result result_;
};

}  // namespace

std::string Trial::Result::text() const {
  const auto per_second = [&](std::chrono::nanoseconds time) {
    return std::to_string(histories * 1'000'000'000 / static_cast<std::uint64_t>(time.count() + 1));
  };
  return std::to_string(histories) + " histories, " + per_second(took) + " per second, checked " +
         per_second(checking) + " per second; " + std::to_string(operations) + " operations, " +
         std::to_string(overlapping) + " overlapping, " + std::to_string(unanswered) +
         " unanswered; " + std::to_string(kills) + " kills; gave up " + std::to_string(gave_up);
}

Trial::Result Trial::run() const { return Run(*this).run(); }

void expect_linearizable(const Trial& trial, const std::function<std::uint64_t()>& faults) {
  const Trial::Result result = trial.run();
  std::printf("%s: %s\n", trial.name.c_str(), result.text().c_str());
  EXPECT_TRUE(result.wrong.empty()) << result.wrong;
  EXPECT_GT(result.histories, 0U);
  EXPECT_LE(result.gave_up, 1 + result.histories / 1'000);
  testing::ChaosRow{.scenario = "histories (" + trial.name + ")",
                    .faults = result.kills + faults(),
                    .operations = result.operations}
      .report();
}

}  // namespace airlock::lincheck
