#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/support/sentinels.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/asker.hpp"
#include "store/support/child.hpp"
#include "store/support/failures.hpp"
#include "store/support/waiters.hpp"

// Packets between a client and a server are lost, without a word, while everybody else hears each
// other.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::Asker;
using testing::asks;
using testing::Loss;
using testing::RedisSentinels;
using testing::since;
using testing::TimePoint;
using testing::unused_prefix;

// A network for servers and one for this process, with a cable in between. Both end with it.
class Cable {
 public:
  static constexpr std::array<const char*, 3> kHosts = {"10.99.0.11", "10.99.0.12", "10.99.0.13"};

  Cable() {
    if (unshare(CLONE_NEWNET) != 0) throw std::runtime_error("there are no network namespaces");
    servers_ = Child([] {
      if (unshare(CLONE_NEWNET) != 0) _exit(1);
      pause();
    });
    if (!becomes_true([this] { return network_of(servers_.pid()) != network_of(getpid()); })) {
      throw std::runtime_error("the servers have no network of their own");
    }
    run("ip link set lo up");
    run("ip link add cable type veth peer name cable netns " + std::to_string(servers_.pid()));
    run("ip address add 10.99.0.1/24 dev cable && ip link set cable up");
    std::string there = "ip link set lo up && ip link set cable up";
    for (const char* const host : kHosts) {
      there += std::string(" && ip address add ") + host + "/24 dev cable";
    }
    run("nsenter -t " + std::to_string(servers_.pid()) + " -n sh -c '" + there + "'");
  }

  [[nodiscard]] std::vector<std::string> launcher() const {
    return {"nsenter", "-t", std::to_string(servers_.pid()), "-n"};
  }

  // What is sent to the host goes to a station that does not exist.
  static void cut(const std::string& host) {
    run("ip neighbour replace " + host + " lladdr 02:00:00:00:00:99 dev cable nud permanent");
  }
  static void mend(const std::string& host) { run("ip neighbour del " + host + " dev cable"); }

 private:
  static std::string network_of(pid_t process) {
    return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/ns/net").string();
  }
  static void run(const std::string& command) {
    // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): a test may run a command
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }

  Child servers_;
};

class Partition : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (geteuid() != 0) return;
    own_cable = std::make_unique<Cable>();
    own_sentinels = std::make_unique<RedisSentinels>(
        testing::SentinelsOptions{.hosts = {Cable::kHosts[0], Cable::kHosts[1], Cable::kHosts[2]},
                                  .launcher = own_cable->launcher()});
  }
  static void TearDownTestSuite() {
    own_sentinels.reset();
    own_cable.reset();
  }
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "NOT RUN: network namespaces are for root";
  }
  void TearDown() override {
    if (own_sentinels) own_sentinels->bring_back();
  }

  static RedisSentinels& sentinels() { return *own_sentinels; }
  [[nodiscard]] Store opened(const std::string& options) const {
    return open_store(own_sentinels->uri("prefix=" + prefix_ + options));
  }
  // Where the primary is, and one of the sentinels.
  static std::string its_host() { return Cable::kHosts.at(sentinels().primary()); }

 private:
  static inline std::unique_ptr<Cable> own_cable;
  static inline std::unique_ptr<RedisSentinels> own_sentinels;
  const std::string prefix_ = unused_prefix();
};

TEST_F(Partition, FailsCallsByTheirDeadlineAndIsOverWhenItIs) {
  const auto store = opened("&timeout=500ms");
  const std::string host = its_host();
  const std::size_t primary = sentinels().primary();
  Asker asker(store, "gate");
  std::this_thread::sleep_for(200ms);
  Cable::cut(host);
  const TimePoint start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(3s);
  Cable::mend(host);
  const TimePoint mended = std::chrono::steady_clock::now();
  EXPECT_EQ(sentinels().primary(), primary) << "the sentinels have noticed nothing";
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(mended); }, 1s)) << asker.last_failure();
  asker.stop();
  EXPECT_GT(asker.failed(), 3U);
  EXPECT_LT(asker.slowest(), 650ms) << asker.story(start);
  asker.expect_growing_fences();
}

TEST_F(Partition, TellsHoldersThatTheirLeaseIsLostBeforeItEnds) {
  const auto store = opened("&timeout=500ms");
  const std::string host = its_host();
  const Airlock airlock(store, "gate", {.limit = 1, .ttl = 2s});
  Outcome<Lease> lease = airlock.try_enter();
  ASSERT_TRUE(lease);
  Cable::cut(host);
  const TimePoint start = std::chrono::steady_clock::now();
  EXPECT_TRUE(becomes_true([&] { return lease->lost().stop_requested(); }, 2s));
  EXPECT_GT(since(start), 1s);
  EXPECT_FALSE(lease->valid());
  Cable::mend(host);
}

TEST_F(Partition, KeepsALeaseThatOutlivesIt) {
  const auto store = opened("&timeout=500ms");
  const std::string host = its_host();
  const Airlock airlock(store, "gate", {.limit = 1, .ttl = 6s});
  Outcome<Lease> lease = airlock.try_enter();
  ASSERT_TRUE(lease);
  Cable::cut(host);
  std::this_thread::sleep_for(3s);
  Cable::mend(host);
  std::this_thread::sleep_for(4s);
  EXPECT_TRUE(lease->valid());
  EXPECT_FALSE(lease->lost().stop_requested());
}

TEST_F(Partition, WaitersGetTheirTurnAfterIt) {
  testing::Waiters waiters(opened("&timeout=500ms"), {"a", "b", "c"});
  const std::string host = its_host();
  Cable::cut(host);
  std::this_thread::sleep_for(2s);
  Cable::mend(host);
  std::this_thread::sleep_for(4s);
  waiters.let_in();
}

TEST_F(Partition, EndsWithThePrimaryBehindIt) {
  const auto store = opened("&timeout=500ms");
  const std::size_t primary = sentinels().primary();
  const std::string host = its_host();
  Asker asker(store, "gate");
  std::this_thread::sleep_for(200ms);
  Cable::cut(host);
  sentinels().sentinel(primary).stop();  // Nobody here hears it any more, either.
  std::this_thread::sleep_for(1s);
  const RedisSentinels::Failover failover = sentinels().fail_over(primary, Loss::killed);
  const TimePoint promoted = failover.began + failover.outage;
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(promoted); }, 1s))
      << asker.last_failure();
  asker.stop();
  asker.expect_growing_fences();
  Cable::mend(host);
}

}  // namespace
}  // namespace airlock
