#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "store/support/asker.hpp"
#include "store/support/child.hpp"
#include "store/support/cpu_wait.hpp"

namespace airlock::testing {

// Gates that are held, with somebody waiting at each.
class Waiters {
 public:
  Waiters(Store store, const std::vector<std::string>& gates) : store_(std::move(store)) {
    using namespace std::chrono_literals;
    for (const std::string& gate : gates) {
      const Answer answer = store_.admit({.gate = gate,
                                          .visitor = VisitorId::random(),
                                          .permits = Permits{.limit = 1, .ttl = 300s},
                                          .hold = Hold::detached});
      held_.push_back(std::get<Granted>(answer).token);
      std::promise<Entered> entered;
      entered_.push_back(entered.get_future());
      threads_.emplace_back([this, gate, entered = std::move(entered)]() mutable {
        entered.set_value(wait_at(gate));
        over_.wait();
      });
    }
    EXPECT_TRUE(becomes_true([&] {
      return std::ranges::all_of(held_, [this](const Token& token) {
        return store_.look(token.gate)->counts.waiting == 1;
      });
    })) << "they do not wait";
  }

  ~Waiters() { over_.count_down(); }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  // Frees the gates one after the other. All must get in, and the median of them so fast that it was
  // told: who has to ask by itself does so four times a second. What this process's threads waited
  // for a processor meanwhile does not count; so that they can be asked for it they all stay.
  std::chrono::milliseconds let_in() { return let_in(store_); }
  std::chrono::milliseconds let_in(const Store& by) {
    std::vector<std::chrono::milliseconds> took;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const auto without_cpu = cpu_wait_of_process();
      const TimePoint start = std::chrono::steady_clock::now();
      try {
        EXPECT_TRUE(by.release(held_[i]));
      } catch (const StoreError& error) {
        ADD_FAILURE() << "release: " << error.what();
      }
      const Entered entered = entered_[i].get();
      EXPECT_EQ(entered.failure, "") << held_[i].gate.view();
      took.push_back(milliseconds(entered.at - start - (cpu_wait_of_process() - without_cpu)));
    }
    std::ranges::sort(took);
    EXPECT_LT(took.back(), std::chrono::milliseconds(600));
    EXPECT_LT(took[took.size() / 2], std::chrono::milliseconds(60));
    return took[took.size() / 2];
  }

 private:
  struct Entered {
    TimePoint at;
    std::string failure;
  };

  Entered wait_at(const std::string& gate) const {
    using namespace std::chrono_literals;
    try {
      const Airlock airlock(store_, gate,
                            {.limit = 1, .ttl = 30s, .max_wait = 60s, .patience = 60s});
      Outcome<Lease> lease = airlock.enter();
      const TimePoint at = std::chrono::steady_clock::now();
      return {at, lease ? "" : to_text(lease.error().reason)};
    } catch (const Error& error) {
      return {std::chrono::steady_clock::now(), error.what()};
    }
  }

  const Store store_;
  std::vector<Token> held_;
  std::vector<std::future<Entered>> entered_;
  std::latch over_{1};
  std::vector<std::jthread> threads_;
};

}  // namespace airlock::testing
