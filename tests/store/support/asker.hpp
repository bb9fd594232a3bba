#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/support/cpu_wait.hpp"

namespace airlock::testing {

using TimePoint = std::chrono::steady_clock::time_point;

[[nodiscard]] inline std::chrono::milliseconds milliseconds(TimePoint::duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}
[[nodiscard]] inline std::chrono::milliseconds since(TimePoint start) {
  return milliseconds(std::chrono::steady_clock::now() - start);
}

// How long something takes by itself: without what the threads of this process wait for a processor
// meanwhile.
class Stopwatch {
 public:
  [[nodiscard]] TimePoint start() const noexcept { return start_; }
  [[nodiscard]] std::chrono::milliseconds own() const {
    return since(start_) - milliseconds(cpu_wait_of_process() - without_cpu_);
  }

 private:
  std::chrono::nanoseconds without_cpu_ = cpu_wait_of_process();
  TimePoint start_ = std::chrono::steady_clock::now();
};

// Enters a gate and leaves it again, every 20 ms unless told otherwise, and notes how it went.
class Asker {
 public:
  Asker(Store store, const GateName& gate,
        std::chrono::milliseconds interval = std::chrono::milliseconds(20))
      : store_(std::move(store)), gate_(gate), interval_(interval), thread_([this] { run(); }) {}
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  ~Asker() { stop(); }

  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // Whether it got in, having asked at this moment or later.
  [[nodiscard]] bool got_in_since(TimePoint moment) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(
        visits_, [&](const Visit& visit) { return visit.fence && visit.asked >= moment; });
  }

  // After stop().
  [[nodiscard]] std::size_t entered() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(visits_, [](const Visit& visit) { return visit.fence.has_value(); }));
  }
  [[nodiscard]] std::size_t failed() const { return visits_.size() - entered(); }

  // The longest time between two answers that let it in.
  [[nodiscard]] std::chrono::milliseconds longest_outage() const {
    std::optional<TimePoint> last;
    TimePoint::duration longest{0};
    for (const Visit& visit : visits_) {
      if (!visit.fence) continue;
      if (last) longest = std::max(longest, visit.answered - *last);
      last = visit.answered;
    }
    return milliseconds(longest);
  }
  // Of what the calls took themselves: not while others had the processor.
  [[nodiscard]] std::chrono::milliseconds slowest() const {
    TimePoint::duration slowest{0};
    for (const Visit& visit : visits_) {
      slowest = std::max(slowest, visit.answered - visit.asked - visit.without_cpu);
    }
    return milliseconds(slowest);
  }
  // How many fences are no higher than the one before.
  [[nodiscard]] std::uint64_t fences_that_do_not_grow() const {
    std::uint64_t count = 0;
    Fence last = 0;
    for (const Visit& visit : visits_) {
      if (!visit.fence) continue;
      count += *visit.fence <= last ? 1 : 0;
      last = *visit.fence;
    }
    return count;
  }
  void expect_growing_fences() const { EXPECT_EQ(fences_that_do_not_grow(), 0U); }
  [[nodiscard]] std::string last_failure() const {
    const std::lock_guard lock(mutex_);
    for (auto visit = visits_.rbegin(); visit != visits_.rend(); ++visit) {
      if (!visit->failure.empty()) return visit->failure;
    }
    return "";
  }
  // What failed or took long, a line each: when it was asked and answered, counted from a moment.
  [[nodiscard]] std::string story(TimePoint moment) const {
    std::string text;
    for (const Visit& visit : visits_) {
      if (visit.fence && visit.answered - visit.asked < std::chrono::milliseconds(50)) continue;
      text += std::to_string(milliseconds(visit.asked - moment).count()) + " to " +
              std::to_string(milliseconds(visit.answered - moment).count()) +
              " ms: " + (visit.fence ? "entered" : visit.failure) + "\n";
    }
    return text;
  }

 private:
  struct Visit {
    TimePoint asked;
    TimePoint answered = {};
    std::chrono::nanoseconds without_cpu{0};
    std::optional<Fence> fence = {};
    std::string failure = {};
  };

  void run() {
    for (TimePoint next = std::chrono::steady_clock::now(); !stopping_;) {
      visit();
      next = std::max(next + interval_, std::chrono::steady_clock::now());
      std::this_thread::sleep_until(next);
    }
  }

  void visit() {
    // What a failover forgot to give back must not keep it out.
    const Request request{.gate = gate_,
                          .visitor = VisitorId::random(),
                          .permits = Permits{.limit = 1000, .ttl = std::chrono::seconds(5)}};
    const auto without_cpu = cpu_wait();
    Visit visit{.asked = std::chrono::steady_clock::now()};
    const auto end = [&] {
      visit.answered = std::chrono::steady_clock::now();
      visit.without_cpu = cpu_wait() - without_cpu;
    };
    try {
      const Answer answer = store_.admit(request);
      end();
      if (const auto* const granted = std::get_if<Granted>(&answer)) {
        visit.fence = granted->token.fence;
        note(visit);
        (void)store_.release(granted->token);
        return;
      }
      visit.failure = "not granted";
    } catch (const StoreError& error) {
      if (visit.fence) return;  // It was in; that it could not leave is another matter.
      end();
      visit.failure = error.what();
    }
    note(visit);
  }

  void note(const Visit& visit) {
    const std::lock_guard lock(mutex_);
    visits_.push_back(visit);
  }

  const Store store_;
  const GateName gate_;
  const std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::vector<Visit> visits_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace airlock::testing
