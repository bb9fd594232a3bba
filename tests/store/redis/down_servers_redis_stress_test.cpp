#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <thread>

#include "store/redis/support/bare_cluster.hpp"
#include "store/redis/support/down_server_trial.hpp"
#include "support/chaos.hpp"

// Keyed load at a cluster whose servers are lost one after the other, or far away.

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;

using Trials = std::deque<DownServerTrial>;

// One for each policy, all at the same time.
void start_all(Trials& trials, BareCluster& cluster, Duration timeout, std::size_t lost) {
  for (const Outage outage : {Outage::closed, Outage::open, Outage::local}) {
    trials.emplace_back(cluster, outage, timeout).start(lost);
  }
}

ChaosRow stop_all(Trials& trials) {
  ChaosRow row;
  for (DownServerTrial& trial : trials) trial.stop();
  for (DownServerTrial& trial : trials) {
    trial.expect_nothing_at_healthy_servers();
    row += trial.row();
  }
  return row;
}

TEST(DownServers, HarmNobodyAtTheOthers) {
  BareCluster cluster(3);
  ChaosRow row{.scenario = "a server down, keyed (redis+cluster)"};
  const std::size_t rounds = takes_its_time() ? 60 : 4;
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::size_t lost = i % cluster.size();
    Trials trials;
    start_all(trials, cluster, 500ms, lost);
    if (i % 2 == 0) {
      cluster.node(lost).kill();
    } else {
      cluster.node(lost).stop();
    }
    std::this_thread::sleep_for(3s);
    ChaosRow round = stop_all(trials);
    round.faults = 1;
    row += round;
    cluster.bring_back();
  }
  row.report();
}

TEST(LongLinks, AreSlowAndNothingElse) {
  constexpr std::size_t kNobody = 2;
  BareCluster cluster(2, 300ms);
  ChaosRow row{.scenario = "300 ms away, keyed (redis+cluster)"};
  Trials trials;
  start_all(trials, cluster, 5s, kNobody);
  std::this_thread::sleep_for(takes_its_time() ? 60s : 10s);
  row += stop_all(trials);
  row.report();
}

}  // namespace
}  // namespace airlock::testing
