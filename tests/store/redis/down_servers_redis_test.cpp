#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/slot.hpp"
#include "store/redis/support/bare_cluster.hpp"
#include "store/redis/support/down_server_trial.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/support/slow_link.hpp"
#include "store/support/asker.hpp"
#include "store/support/failures.hpp"
#include "store/support/temp_dir.hpp"

// A server that cannot be reached harms nobody at another one.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::BareCluster;
using testing::failure_of;
using testing::RedisServer;
using testing::since;
using testing::SlowLink;
using testing::TimePoint;
using testing::unused_prefix;

// --- asking ---

TEST(DownServer, FailsNoAskAtAnotherAndLetsNobodyThereEnterUnguarded) {
  BareCluster cluster(3);
  std::deque<testing::DownServerTrial> trials;
  for (const Outage outage : {Outage::closed, Outage::open, Outage::local}) {
    trials.emplace_back(cluster, outage, 2s).start(1);  // In which a healthy one surely answers.
  }
  cluster.node(1).kill();
  std::this_thread::sleep_for(1500ms);
  for (auto& trial : trials) trial.stop();
  for (auto& trial : trials) trial.expect_nothing_at_healthy_servers();
}

// --- renewing ---

// Renewals that wait for all servers together take longer here than the leases of the others last.
class LeasesOfACluster : public ::testing::Test {
 protected:
  // Its renewals wait for up to 2 s where its server says nothing.
  static constexpr Duration kLong = 6s;
  static constexpr Duration kShort = 1500ms;

  void enter(const std::string& gate, Duration ttl, std::vector<Lease>& leases) {
    Outcome<Lease> lease = Airlock(store_, gate, {.limit = 1, .ttl = ttl}).try_enter();
    ASSERT_TRUE(lease);
    leases.push_back(std::move(*lease));
  }

  // From before the first renewal of the long ones to after its end.
  static void expect_valid(const std::vector<Lease>& leases) {
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (std::chrono::steady_clock::now() < end) {
      const auto lost =
          std::ranges::count_if(leases, [](const Lease& one) { return !one.valid(); });
      ASSERT_EQ(lost, 0) << "of " << leases.size();
      std::this_thread::sleep_for(20ms);
    }
  }

  // With the keys that are in it.
  void move_slot(const std::string& gate, std::size_t from, std::size_t to) {
    const std::string slot = std::to_string(redis::slot_of(gate));
    const std::string source = cluster_.node(from).command({"CLUSTER", "MYID"});
    const std::string target = cluster_.node(to).command({"CLUSTER", "MYID"});
    (void)cluster_.node(to).command({"CLUSTER", "SETSLOT", slot, "IMPORTING", source});
    (void)cluster_.node(from).command({"CLUSTER", "SETSLOT", slot, "MIGRATING", target});
    const auto keys =
        testing::lines_of(cluster_.node(from).command({"CLUSTER", "GETKEYSINSLOT", slot, "10"}));
    for (const std::string& key : keys) {
      (void)cluster_.node(from).command(
          {"MIGRATE", "127.0.0.1", std::to_string(cluster_.address(to).port), key, "0", "5000"});
    }
    (void)cluster_.node(to).command({"CLUSTER", "SETSLOT", slot, "NODE", target});
    (void)cluster_.node(from).command({"CLUSTER", "SETSLOT", slot, "NODE", target});
  }

  BareCluster cluster_{3};
  const Store store_ = open_store(cluster_.uri("timeout=4s"));
};

TEST_F(LeasesOfACluster, OutliveAStoppedServerAtTheOthers) {
  std::vector<Lease> others;
  std::vector<Lease> its_own;
  for (int i = 0; i < 10; ++i) {
    enter(cluster_.tag_at(0), kShort, others);
    enter(cluster_.tag_at(2), kShort, others);
    enter(cluster_.tag_at(1), kLong, its_own);
  }
  cluster_.node(1).stop();
  its_own.erase(its_own.begin() + 5,
                its_own.end());  // What is to be given back there delays nothing either.
  expect_valid(others);
  cluster_.node(1).go_on();
}

TEST_F(LeasesOfACluster, AreRenewedWithThoseOfTheServerThatTheirSlotHasMovedTo) {
  const std::string gate = cluster_.tag_at(1);
  std::vector<Lease> moved;
  std::vector<Lease> its_own;
  enter(gate, kShort, moved);
  enter(cluster_.tag_at(1), kLong, its_own);
  move_slot(gate, 1, 2);
  std::this_thread::sleep_for(kShort / 2);  // It is renewed there once.
  cluster_.node(1).stop();
  expect_valid(moved);
  cluster_.node(1).go_on();
}

// What runs out at a gate is ended in portions, and each took a deadline of its own.
TEST(Renewing, ManyKeepsOneDeadline) {
  constexpr std::size_t kGates = 6;
  RedisServer& server = RedisServer::shared();
  const std::string prefix = unused_prefix();
  const auto near = redis::make_store({.address = server.address(), .prefix = prefix});
  std::vector<RenewItem> items;
  for (std::size_t i = 0; i < kGates; ++i) {
    const std::string gate = "gate" + std::to_string(i);
    const Answer answer = near.admit(asks(gate, VisitorId::random(), 10'000));
    items.push_back({.token = std::get<Granted>(answer).token, .ttl = 30s});
    Request brief = asks(gate, VisitorId::random(), 10'000);
    brief.permits->ttl = 300ms;
    for (int j = 0; j < 400; ++j) {
      brief.visitor = VisitorId::random();
      (void)near.admit(brief);
    }
  }
  std::this_thread::sleep_for(300ms);  // They run out.
  const SlowLink link(server.address(), 30ms);
  const auto far =
      redis::make_store({.address = link.address(), .prefix = prefix, .timeout = 400ms});
  far.renew({items.data(), 1});  // Connected.
  const testing::Stopwatch watch;
  far.renew(items);
  EXPECT_LT(watch.own(), 700ms);
  for (const RenewItem& item : items) EXPECT_EQ(item.result, Renewal::renewed);
}

// --- finding out who has what ---

// A call that waited for the refresh of the map that another one had begun later outlived its timeout.
TEST(StoppedCluster, EveryCallEndsWithItsDeadline) {
  BareCluster cluster(3);
  const auto store = open_store(cluster.uri("timeout=500ms"));
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    (void)store.admit(asks(cluster.tag_at(i), VisitorId::random()));
  }
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.node(i).stop();
  std::vector<std::future<std::chrono::milliseconds>> callers;
  for (std::size_t i = 0; i < 9; ++i) {
    callers.push_back(std::async(std::launch::async, [&, i, gate = cluster.tag_at(i % 3)] {
      std::this_thread::sleep_for(i * 60ms);
      std::chrono::milliseconds longest{0};
      for (int calls = 0; calls < 4; ++calls) {
        const TimePoint start = std::chrono::steady_clock::now();
        const auto failure =
            failure_of([&] { (void)store.admit(asks(gate, VisitorId::random())); });
        EXPECT_EQ(failure ? failure->kind() : StoreError::Kind::closed,
                  StoreError::Kind::unavailable);
        longest = std::max(longest, since(start));
      }
      return longest;
    }));
  }
  for (auto& caller : callers) EXPECT_LT(caller.get(), 750ms);
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.node(i).go_on();
}

// With five known servers those of the URI were not asked any more.
TEST(ReplacedCluster, IsFoundThroughTheServersOfTheURI) {
  auto old = std::make_unique<BareCluster>(5);
  SlowLink named(old->address(0), 0ms);
  const auto store = open_store("redis+cluster://" + named.text() + "?timeout=1s");
  for (std::size_t i = 0; i < old->size(); ++i) {
    (void)store.admit(asks(old->tag_at(i), VisitorId::random()));
  }
  BareCluster replacement(1);
  named.lead_to(replacement.address(0));
  old.reset();
  const TimePoint start = std::chrono::steady_clock::now();
  bool served = false;
  while (!served && since(start) < 10s) {
    try {
      served = std::holds_alternative<Granted>(store.admit(asks("gate", VisitorId::random())));
    } catch (const StoreError&) {
      std::this_thread::sleep_for(10ms);
    }
  }
  EXPECT_TRUE(served);
}

// --- long links ---

TEST(LongLinks, AClusterIsUsedWithATimeoutThatAllowsForThem) {
  BareCluster cluster(1, 300ms);
  const auto store = open_store(cluster.uri("timeout=10s"));
  const Answer answer = store.admit(asks("gate", VisitorId::random()));
  ASSERT_TRUE(std::holds_alternative<Granted>(answer));
  EXPECT_TRUE(store.release(std::get<Granted>(answer).token));
}

TEST(LongLinks, SentinelsAreUsedWithATimeoutThatAllowsForThem) {
  const testing::FreePort port;
  const testing::FreePort sentinel_port;
  const TempDir dir;
  const redis::Address address{.host = "127.0.0.1", .port = port.number()};
  testing::RedisProcess server(address);
  std::vector<std::string> words = testing::forgetful_in(dir.path() + "/server");
  words.insert(words.end(), {"--port", port.text(), "--bind", "127.0.0.1"});
  server.start(words);
  const SlowLink to_server(address, 300ms);
  testing::RedisProcess sentinel({.host = "127.0.0.1", .port = sentinel_port.number()});
  std::ofstream(dir.path() + "/sentinel.conf")
      << "port " << sentinel_port.number() << "\nbind 127.0.0.1\ndir " << dir.path()
      << "\nsentinel monitor main 127.0.0.1 " << to_server.address().port
      << " 1\nsentinel down-after-milliseconds main 60000\n";
  sentinel.start({dir.path() + "/sentinel.conf", "--sentinel"});
  const SlowLink to_sentinel(sentinel.address(), 300ms);
  const auto store = open_store("redis+sentinel://" + to_sentinel.text() + "/main?timeout=10s");
  const Answer answer = store.admit(asks("gate", VisitorId::random()));
  EXPECT_TRUE(std::holds_alternative<Granted>(answer));
}

}  // namespace
}  // namespace airlock
