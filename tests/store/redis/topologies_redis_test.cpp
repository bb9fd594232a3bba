#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <set>
#include <string>

#include "airlock/error.hpp"
#include "store/redis/support/cluster.hpp"
#include "store/redis/support/sentinels.hpp"

// The topologies that other tests rely on are what they say.

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::chrono::milliseconds since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               start);
}

TEST(Sentinels, HaveAnotherPrimaryWhenOneIsLostAndTheLostOneComesBackAsAReplica) {
  const auto start = std::chrono::steady_clock::now();
  RedisSentinels sentinels;
  std::cout << "ready after " << since(start).count() << " ms\n";
  ASSERT_EQ(sentinels.primary(), 0U);
  ASSERT_THAT(sentinels.replicas(), ElementsAre(1, 2));
  (void)sentinels.server(0).command({"SET", "key", "value"});
  for (const Loss loss : {Loss::killed, Loss::stopped}) {
    const auto began = std::chrono::steady_clock::now();
    const RedisSentinels::Failover failover = sentinels.fail_over(loss);
    EXPECT_NE(failover.before, failover.after);
    EXPECT_EQ(sentinels.primary(), failover.after);
    EXPECT_EQ(sentinels.server(failover.after).command({"GET", "key"}), "value");
    EXPECT_GE(failover.outage, 300ms);
    EXPECT_LE(failover.outage, 4s);
    sentinels.bring_back();
    std::cout << "failover after " << failover.outage.count() << " ms, all back after "
              << since(began).count() << " ms\n";
    EXPECT_THAT(sentinels.server(failover.before).command({"ROLE"}), StartsWith("slave\n"));
    EXPECT_EQ(sentinels.server(failover.before).command({"GET", "key"}), "value");
    EXPECT_EQ(sentinels.primary(), failover.after);
  }
}

TEST(Sentinels, MayHavePasswordsOfTheirOwn) {
  RedisSentinels sentinels({.password = "inner", .sentinel_password = "outer"});
  EXPECT_THAT(sentinels.uri(), StartsWith("redis+sentinel://:inner@127.0.0.1:"));
  const RedisProcess stranger({.host = "127.0.0.1", .port = sentinels.sentinel(0).address().port});
  EXPECT_THROW((void)stranger.command({"SENTINEL", "MASTERS"}), StoreError);
  EXPECT_NE(sentinels.fail_over(Loss::killed).after, 0U);
}

TEST(Cluster, HasAllSlotsAndMovesThemWithTheirKeys) {
  const auto start = std::chrono::steady_clock::now();
  RedisCluster cluster;
  std::cout << "ready after " << since(start).count() << " ms\n";
  EXPECT_THAT(cluster.primaries(), ElementsAre(0, 1, 2));
  EXPECT_EQ(cluster.slot_of("123456789"), 12739);  // 0x31C3: what the cluster's specification says.
  EXPECT_EQ(cluster.owner_of(0), 0U);
  EXPECT_EQ(cluster.owner_of(16'383), 2U);

  const std::string tag = cluster.tag_at(1);
  const RedisCluster::Slot slot = cluster.slot_of(tag);
  for (int i = 0; i < 5; ++i) {
    (void)cluster.node(1).command({"SET", std::to_string(i) + "{" + tag + "}", "value"});
  }
  cluster.move_slot(slot, 2);
  EXPECT_EQ(cluster.owner_of(slot), 2U);
  EXPECT_EQ(cluster.node(2).command({"CLUSTER", "COUNTKEYSINSLOT", std::to_string(slot)}), "5");
  EXPECT_THAT(cluster.node(1).command({"GET", "0{" + tag + "}"}), StartsWith("MOVED"));
  cluster.wait_until_ready();
}

TEST(Cluster, ReplacesLostPrimariesByTheirReplicas) {
  RedisCluster cluster;
  for (const bool killed : {true, false}) {
    const std::size_t lost = cluster.owner_of(100);
    const auto start = std::chrono::steady_clock::now();
    killed ? cluster.node(lost).kill() : cluster.node(lost).stop();
    const std::size_t owner = cluster.wait_for_failover(100, lost);
    std::cout << "failover after " << since(start).count() << " ms";
    cluster.bring_back();
    std::cout << ", all back after " << since(start).count() << " ms\n";
    EXPECT_EQ(cluster.owner_of(100), owner);
    EXPECT_THAT(cluster.node(lost).command({"ROLE"}), StartsWith("slave\n"));
    EXPECT_THAT(cluster.primaries(), SizeIs(3));
  }
}

TEST(FreePorts, AreDifferent) {
  std::set<std::uint16_t> numbers;
  std::vector<FreePort> ports(100);
  for (const FreePort& port : ports) numbers.insert(port.number());
  EXPECT_THAT(numbers, SizeIs(100));
}

}  // namespace
}  // namespace airlock::testing
