#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/multi_seal.hpp"
#include "airlock/rate_limiter_seal.hpp"
#include "airlock/store.hpp"
#include "store/backend.hpp"
#include "store/redis/support/cluster.hpp"
#include "store/redis/support/resharding_trial.hpp"
#include "store/redis/support/server.hpp"
#include "store/sleeper.hpp"
#include "store/support/asker.hpp"
#include "store/support/child.hpp"
#include "store/support/failures.hpp"
#include "store/support/temp_dir.hpp"
#include "store/support/waiters.hpp"

// A store on a cluster.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::Asker;
using testing::asks;
using testing::failure_of;
using ::testing::HasSubstr;
using testing::RedisCluster;
using testing::since;
using testing::TimePoint;
using testing::unused_prefix;
using Kind = StoreError::Kind;

class ClusterStore : public ::testing::Test {
 protected:
  // What is not there is no reason to refuse what is: without this a cluster that misses a slot
  // serves none.
  static void SetUpTestSuite() {
    own_cluster = std::make_unique<RedisCluster>(
        std::vector<std::string>{"--cluster-require-full-coverage", "no"});
  }
  static void TearDownTestSuite() { own_cluster.reset(); }
  void TearDown() override { own_cluster->bring_back(); }

  static RedisCluster& cluster() { return *own_cluster; }
  [[nodiscard]] Store opened(const std::string& options = "") const {
    return open_store(cluster().uri("prefix=" + prefix_ + options));
  }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

  // So many gates at each primary.
  static std::vector<std::string> gates_everywhere(std::size_t each) {
    std::vector<std::string> gates;
    for (const std::size_t node : cluster().primaries()) {
      for (std::size_t i = 0; i < each; ++i) gates.push_back(cluster().tag_at(node));
    }
    return gates;
  }

 private:
  static inline std::unique_ptr<RedisCluster> own_cluster;
  const std::string prefix_ = unused_prefix();
};

TEST_F(ClusterStore, LetsInAndOutAtEveryServer) {
  const auto store = opened();
  const std::vector<std::string> gates = gates_everywhere(3);
  for (const std::string& gate : gates) {
    const Answer answer = store.admit(asks(gate, VisitorId::random()));
    ASSERT_TRUE(std::holds_alternative<Granted>(answer));
    EXPECT_TRUE(std::holds_alternative<Refused>(store.admit(asks(gate, VisitorId::random()))));
    const std::size_t owner = cluster().owner_of(cluster().slot_of(gate));
    EXPECT_EQ(cluster().node(owner).command({"EXISTS", prefix() + ":{" + gate + "}:gate"}), "1");
    EXPECT_TRUE(store.release(std::get<Granted>(answer).token));
  }
  EXPECT_THAT(store.list(), ::testing::UnorderedElementsAreArray(gates));
  const std::vector<GateName> names(gates.begin(), gates.end());
  EXPECT_THAT(store.counts(names), ::testing::Each(GateCounts{.limit = 1}));
}

TEST_F(ClusterStore, RenewsLeasesOfAllServersTogether) {
  const auto store = opened();
  std::vector<RenewItem> items;
  for (const std::string& gate : gates_everywhere(20)) {
    const Answer answer = store.admit(asks(gate, VisitorId::random()));
    items.push_back({.token = std::get<Granted>(answer).token, .ttl = 30s});
  }
  (void)store.release(items[7].token);
  store.renew(items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(items[i].result, i == 7 ? Renewal::gone : Renewal::renewed) << i;
  }
}

TEST_F(ClusterStore, DecidesAGroupInOneStep) {
  const auto store = opened();
  const VisitorId ann = VisitorId::random();
  const VisitorId bob = VisitorId::random();
  const std::vector<Request> hers = {asks("g/a", ann), asks("g/b", ann), asks("g/c", ann)};
  const GroupAnswer answer = store.admit_all(hers);
  ASSERT_TRUE(answer);
  const std::vector<Request> his = {asks("g/c", bob), asks("g/d", bob)};
  EXPECT_FALSE(store.admit_all(his));
  EXPECT_EQ(store.counts(std::vector<GateName>{"g/d"}).front().holders, 0U);
  for (const Granted& granted : answer.granted) EXPECT_TRUE(store.release(granted.token));
  EXPECT_TRUE(store.admit_all(his));
}

TEST_F(ClusterStore, TakesGatesOfSeveralServersInOrderAndGivesThemBack) {
  const auto store = opened();
  const std::vector<std::string> gates = gates_everywhere(1);
  const LockSeal first(store, gates[0], {.ttl = 10s});
  const RateLimiterSeal second(store, gates[1], {Rate::parse("10/h")});
  const LockSeal third(store, gates[2], {.ttl = 10s});
  const ChainedSeal chain(first, {second, third});
  const auto taken = third.try_acquire();
  ASSERT_TRUE(taken);
  EXPECT_FALSE(chain.try_acquire());
  EXPECT_EQ(store.look(gates[0])->counts.holders, 0U);
  EXPECT_EQ(store.look(gates[1])->rates.at(0).info.remaining, 10U);
  EXPECT_TRUE(store.release(taken->token));
  EXPECT_TRUE(chain.try_acquire());
  EXPECT_EQ(store.look(gates[1])->rates.at(0).info.remaining, 9U);
}

TEST_F(ClusterStore, TellsWhoWaitsThatItIsItsTurn) {
  testing::Waiters(opened(), gates_everywhere(3)).let_in();
}

TEST_F(ClusterStore, TellsThoseOfOtherClientsThatItIsTheirTurn) {
  testing::Waiters waiters(opened(), gates_everywhere(3));
  waiters.let_in(opened());
}

TEST_F(ClusterStore, TellsWhoWaitsThoughItsSlotHasMoved) {
  const std::vector<std::string> gates = gates_everywhere(3);
  testing::Waiters waiters(opened("&timeout=5s"), gates);
  for (const std::string& gate : gates) {
    const RedisCluster::Slot slot = cluster().slot_of(gate);
    const std::size_t owner = cluster().owner_of(slot);
    const std::vector<std::size_t> primaries = cluster().primaries();
    cluster().move_slot(
        slot, *std::ranges::find_if(primaries, [&](std::size_t node) { return node != owner; }));
  }
  std::this_thread::sleep_for(1s);  // The servers say that somebody hears nothing there any more.
  waiters.let_in();
}

// Nobody reads at the old server while nobody is to be told there; then the slot moves.
TEST_F(ClusterStore, TellsAtOnceThatASlotHasMoved) {
  const auto store = opened("&timeout=5s");
  const std::vector<std::size_t> primaries = cluster().primaries();
  const std::string gate = cluster().tag_at(primaries[0]);
  const auto sleeper = std::make_shared<Sleeper>();
  Token inside{.gate = gate};
  Request waits = asks(gate, VisitorId::random());
  const auto joins = [&] {
    inside = std::get<Granted>(store.admit(asks(gate, VisitorId::random()))).token;
    waits.visitor = VisitorId::random();
    waits.line.join = true;
    EXPECT_TRUE(std::holds_alternative<Queued>(store.admit(waits)));
  };
  const auto is_told = [&](std::chrono::milliseconds at_most) {
    return internal::backend_of(store)->await(gate, waits.visitor, sleeper,
                                              internal::backend_of(store)->clock().now() + at_most);
  };
  for (int i = 0; i < 3; ++i) {
    joins();
    const std::jthread releases([&] {
      std::this_thread::sleep_for(10ms);
      EXPECT_TRUE(store.release(inside));
    });
    EXPECT_TRUE(is_told(5s));
    EXPECT_TRUE(store.leave(gate, waits.visitor));
  }
  cluster().move_slot(cluster().slot_of(gate), primaries[1]);
  joins();
  EXPECT_TRUE(is_told(500ms)) << "that it hears nothing there any more";
}

// Nobody is lost here: a node that is not let run for a while must not be taken for dead.
TEST_F(ClusterStore, GoesOnWhileSlotsMove) {
  RedisCluster steady({"--cluster-node-timeout", "15000"});
  testing::ReshardingTrial(steady).run(3'000);
}

TEST_F(ClusterStore, FindsTheOthersThoughOneOfTheURIIsDead) {
  cluster().node(0).stop();
  const auto store = opened("&timeout=4s");  // It would be asked for half of it.
  const testing::Stopwatch watch;
  const std::string gate = cluster().tag_at(cluster().primaries().back());
  EXPECT_TRUE(std::holds_alternative<Granted>(store.admit(asks(gate, VisitorId::random()))));
  EXPECT_LT(watch.own(), 1500ms);
}

TEST_F(ClusterStore, SaysByTheDeadlineThatNobodyAnswers) {
  const testing::FreePort nobody;
  const auto store = open_store("redis+cluster://127.0.0.1:" + nobody.text() + "?timeout=700ms");
  const testing::Stopwatch watch;
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  EXPECT_LT(watch.own(), 900ms);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::unavailable) << failure->what();
  EXPECT_EQ(failure->outcome(), StoreError::Outcome::nothing_happened);
}

TEST_F(ClusterStore, SaysThatAServerIsNoCluster) {
  const testing::FreePort port;
  testing::RedisProcess alone({.host = "127.0.0.1", .port = port.number()});
  const TempDir dir;
  std::vector<std::string> options = testing::forgetful_in(dir.path());
  options.insert(options.end(), {"--port", port.text(), "--bind", "127.0.0.1"});
  alone.start(options);
  const auto store = open_store("redis+cluster://127.0.0.1:" + port.text());
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::incompatible) << failure->what();
  EXPECT_THAT(failure->what(), HasSubstr("cluster"));
}

// --- a server is lost ---

class LostServer : public ClusterStore, public ::testing::WithParamInterface<bool> {
 protected:
  static void lose(std::size_t node) {
    GetParam() ? cluster().node(node).kill() : cluster().node(node).stop();
  }
};

TEST_P(LostServer, DelaysNothingAtTheOthersAndIsReplaced) {
  const auto store = opened();
  const std::vector<std::size_t> primaries = cluster().primaries();
  const std::size_t lost = primaries[1];
  const std::string its_gate = cluster().tag_at(lost);
  std::vector<Lease> leases;
  std::deque<Asker> others;
  for (const std::size_t node : primaries) {
    for (int i = 0; i < 10; ++i) {
      const Airlock airlock(store, cluster().tag_at(node), {.limit = 1, .ttl = 3s});
      Outcome<Lease> lease = airlock.try_enter();
      ASSERT_TRUE(lease);
      if (node != lost) leases.push_back(std::move(*lease));
    }
    if (node != lost) others.emplace_back(store, cluster().tag_at(node), 5ms);
  }
  Asker its_asker(store, its_gate);
  Asker impatient(store, its_gate, 1ms);
  std::this_thread::sleep_for(200ms);

  const TimePoint start = std::chrono::steady_clock::now();
  lose(lost);
  (void)cluster().wait_for_failover(cluster().slot_of(its_gate), lost);
  const TimePoint replaced = std::chrono::steady_clock::now();
  EXPECT_TRUE(becomes_true([&] { return its_asker.got_in_since(replaced); }, 5s))
      << its_asker.last_failure();
  std::this_thread::sleep_until(start + 5s);
  its_asker.stop();
  impatient.stop();
  for (Asker& asker : others) {
    asker.stop();
    EXPECT_EQ(asker.failed(), 0U) << asker.last_failure();
    EXPECT_GT(asker.entered(), 200U);
    // One that waited for the lost server would take the timeout, a second.
    EXPECT_LT(asker.slowest(), 500ms) << asker.story(start);
  }
  const auto lost_leases = std::ranges::count_if(
      leases, [](const Lease& lease) { return !lease.valid() || lease.lost().stop_requested(); });
  EXPECT_EQ(lost_leases, 0) << "of " << leases.size() << " at the other servers";
  EXPECT_LE(its_asker.longest_outage(), testing::milliseconds(replaced - start) + 1s)
      << its_asker.story(replaced);
  its_asker.expect_growing_fences();
  std::cout << "replaced after " << testing::milliseconds(replaced - start).count()
            << " ms, clients without it for " << its_asker.longest_outage().count()
            << " ms, the slowest call at others " << others.front().slowest().count() << " and "
            << others.back().slowest().count() << " ms\n";
}

TEST_P(LostServer, TellsWhoWaitsWhenItIsReplaced) {
  const std::size_t lost = cluster().primaries().back();
  std::vector<std::string> gates;
  for (int i = 0; i < 5; ++i) gates.push_back(cluster().tag_at(lost));
  testing::Waiters waiters(opened("&timeout=3s"), gates);
  std::this_thread::sleep_for(100ms);
  lose(lost);
  (void)cluster().wait_for_failover(cluster().slot_of(gates[0]), lost);
  std::this_thread::sleep_for(1s);
  waiters.let_in();
}

INSTANTIATE_TEST_SUITE_P(Ways, LostServer, ::testing::Values(true, false),
                         [](const auto& way) { return way.param ? "killed" : "stopped"; });

// What is the default of a cluster: if a slot is missing, no server of it serves.
// A cluster before Redis 7 has no channels of slots; here it is one that has lost the commands.
TEST(ClusterWithoutShardedChannels, TellsWhoWaits) {
  RedisCluster cluster({"--rename-command", "SSUBSCRIBE", "", "--rename-command", "SPUBLISH", ""});
  std::vector<std::string> gates;
  for (const std::size_t node : cluster.primaries()) {
    for (int i = 0; i < 3; ++i) gates.push_back(cluster.tag_at(node));
  }
  const auto store = open_store(cluster.uri());
  testing::Waiters(store, gates).let_in();
  testing::Waiters waiters(store, gates);
  EXPECT_TRUE(std::ranges::any_of(cluster.primaries(), [&](std::size_t node) {
    return !cluster.node(node).command({"PUBSUB", "CHANNELS"}).empty();
  })) << "nobody hears";
  waiters.let_in(open_store(cluster.uri()));
}

TEST(WholeCluster, WorksAgainWhenALostServerIsReplaced) {
  RedisCluster cluster;
  const auto store = open_store(cluster.uri("timeout=3s"));
  const std::string gate = cluster.tag_at(0);
  const std::string other = cluster.tag_at(1);
  const Airlock airlock(store, other, {.limit = 1, .ttl = 6s});
  Outcome<Lease> lease = airlock.try_enter();
  ASSERT_TRUE(lease);
  Asker asker(store, gate);
  std::this_thread::sleep_for(100ms);
  const TimePoint start = std::chrono::steady_clock::now();
  cluster.node(0).kill();
  (void)cluster.wait_for_failover(cluster.slot_of(gate), 0);
  const TimePoint replaced = std::chrono::steady_clock::now();
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(replaced); }, 5s))
      << asker.last_failure();
  asker.stop();
  EXPECT_LE(asker.longest_outage(), testing::milliseconds(replaced - start) + 1s)
      << asker.story(replaced);
  asker.expect_growing_fences();
  EXPECT_TRUE(lease->valid());
}

}  // namespace
}  // namespace airlock
