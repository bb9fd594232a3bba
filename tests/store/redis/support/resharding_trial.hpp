#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "store/redis/support/cluster.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/asker.hpp"
#include "support/chaos.hpp"

namespace airlock::testing {

// Visits gates while their slots move from server to server all the time:
//
// - nobody is inside who should not be, and the gates have counted as many visits as there were;
// - nothing fails: no MOVED, ASK or TRYAGAIN reaches a caller;
// - who waits gets its turn, though the slot it waits for has moved;
// - a thousand leases are kept that live for three seconds each.
class ReshardingTrial {
 public:
  explicit ReshardingTrial(RedisCluster& cluster)
      : cluster_(cluster),
        store_(open_store(cluster.uri("timeout=5s&pool=64&prefix=" + unused_prefix()))) {
    for (int i = 0; i < kGates; ++i) gates_.emplace_back("gate" + std::to_string(i));
    for (int i = 0; i < kGroups; ++i) {
      gates_.emplace_back("group" + std::to_string(i) + "/a");
      gates_.emplace_back("group" + std::to_string(i) + "/b");
    }
  }

  // At least so many visits and kLeastMoves, and for at least three lives of the leases.
  void run(std::uint64_t visits) {
    hold_leases();
    const TimePoint start = std::chrono::steady_clock::now();
    const auto goes_on = [&] {
      if (moves_ < kLeastMoves && !::testing::Test::HasFailure()) return true;
      return visits_ < visits || since(start) < std::chrono::seconds(9);
    };
    std::vector<std::thread> threads;
    std::atomic<bool> moving = true;
    for (std::size_t i = 0; i < kVisitors; ++i) {
      threads.emplace_back([this, i, goes_on] {
        for (std::size_t n = i; goes_on(); ++n) visit_some(n);
      });
    }
    std::thread mover([&] {
      while (moving) move_slots();
    });
    for (std::thread& thread : threads) thread.join();
    moving = false;
    mover.join();
    std::cout << visits_ << " visits, " << refused_ << " refused, while slots moved " << moves_
              << " times in " << since(start).count() << " ms" << std::endl;
    EXPECT_EQ(late_, 0U) << "waited in vain";
    EXPECT_EQ(too_many_, 0U) << "inside together";
    EXPECT_EQ(gone_, 0U) << "gone when they were given back";
    expect_counted();
    expect_held();
  }

  // After run().
  [[nodiscard]] ChaosRow row(const std::string& scenario) const {
    return {.scenario = scenario,
            .faults = moves_,
            .operations = visits_,
            .over_admissions = too_many_ + gone_,
            .leaks = left_,
            .late_returns = late_};
  }

 private:
  static constexpr int kGates = 6;
  static constexpr int kGroups = 2;
  static constexpr std::size_t kVisitors = 6;
  static constexpr std::size_t kLeaseGates = 10;
  static constexpr std::size_t kLeases = 1000;
  static constexpr std::uint64_t kLeastMoves = 50;

  struct Gate {
    explicit Gate(std::string its_name) : name(std::move(its_name)) {}
    std::string name;
    std::atomic<int> inside = 0;
    std::atomic<std::uint64_t> entered = 0;
  };

  void hold_leases() {
    for (std::size_t i = 0; i < kLeases; ++i) {
      const Airlock airlock(store_, "leases" + std::to_string(i % kLeaseGates),
                            {.limit = kLeases, .ttl = std::chrono::seconds(3)});
      Outcome<Lease> lease = airlock.try_enter();
      ASSERT_TRUE(lease);
      leases_.push_back(std::move(*lease));
    }
  }

  // Each gate of its own, then one that it waits for, then a group.
  void visit_some(std::size_t n) {
    TimePoint start = std::chrono::steady_clock::now();
    try {
      enter(gates_[n % kGates], n % 3 == 0);
      start = std::chrono::steady_clock::now();
      if (n % 2 == 0) enter_group(n / 2 % kGroups);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "after " << since(start).count() << " ms: " << error.what();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }

  void enter(Gate& gate, bool waits) {
    const Airlock airlock(store_, gate.name, {.limit = 1, .ttl = std::chrono::seconds(30)});
    Outcome<Lease> lease =
        airlock.try_enter_for(waits ? std::chrono::seconds(20) : std::chrono::seconds(0));
    ++visits_;
    if (!lease) {
      ++(waits ? late_ : refused_);
      return;
    }
    come_in(gate);
    --gate.inside;
    lease->release();
  }

  void enter_group(std::size_t group) {
    const VisitorId visitor = VisitorId::random();
    std::vector<Request> requests;
    for (std::size_t i = 0; i < 2; ++i) {
      requests.push_back({.gate = gates_[kGates + 2 * group + i].name,
                          .visitor = visitor,
                          .permits = Permits{.limit = 1}});
    }
    const GroupAnswer answer = store_.admit_all(requests);
    ++visits_;
    if (!answer) {
      ++refused_;
      return;
    }
    for (std::size_t i = 0; i < 2; ++i) come_in(gates_[kGates + 2 * group + i]);
    for (std::size_t i = 0; i < 2; ++i) --gates_[kGates + 2 * group + i].inside;
    for (const Granted& granted : answer.granted) {
      if (!store_.release(granted.token)) ++gone_;
    }
  }

  void come_in(Gate& gate) {
    if (++gate.inside != 1) ++too_many_;
    ++gate.entered;
  }

  // Every slot once, each to the next server.
  void move_slots() {
    std::vector<std::string> tags;
    for (const Gate& gate : gates_) {
      tags.emplace_back(GateName(gate.name).group());
    }
    for (std::size_t i = 0; i < kLeaseGates; ++i) tags.push_back("leases" + std::to_string(i));
    const std::vector<std::size_t> primaries = cluster_.primaries();
    for (const std::string& tag : tags) {
      const RedisCluster::Slot slot = cluster_.slot_of(tag);
      const auto owner = std::ranges::find(primaries, cluster_.owner_of(slot));
      ASSERT_NE(owner, primaries.end());
      const auto next = std::next(owner) == primaries.end() ? primaries.begin() : std::next(owner);
      cluster_.move_slot(slot, *next);
      ++moves_;
    }
  }

  void expect_counted() {
    for (const Gate& gate : gates_) {
      const auto view = store_.look(gate.name);
      ASSERT_TRUE(view) << gate.name;
      EXPECT_EQ(view->counters.granted, gate.entered) << gate.name;
      left_ += view->counts.holders + view->counts.waiting;
      EXPECT_EQ(view->counts.holders, 0U) << gate.name;
      EXPECT_EQ(view->counts.waiting, 0U) << gate.name;
      EXPECT_EQ(view->counters.expired, 0U) << gate.name;
      EXPECT_EQ(view->counters.missed, 0U) << gate.name;
    }
  }

  void expect_held() {
    std::size_t lost = 0;
    for (const Lease& lease : leases_) {
      if (!lease.valid() || lease.lost().stop_requested()) ++lost;
    }
    EXPECT_EQ(lost, 0U) << "of " << leases_.size() << " leases";
    std::size_t held = 0;
    for (std::size_t i = 0; i < kLeaseGates; ++i) {
      held += store_.look("leases" + std::to_string(i))->counts.holders;
    }
    EXPECT_EQ(held, kLeases);
  }

  RedisCluster& cluster_;
  const Store store_;
  std::deque<Gate> gates_;
  std::vector<Lease> leases_;
  std::atomic<std::uint64_t> visits_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> late_ = 0;
  std::atomic<std::uint64_t> too_many_ = 0;
  std::atomic<std::uint64_t> gone_ = 0;
  std::atomic<std::uint64_t> moves_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace airlock::testing
