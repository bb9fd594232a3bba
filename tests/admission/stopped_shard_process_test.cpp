#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "admission/support/waiting_test.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/mutex.hpp"
#include "store/backend.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/cpu_wait.hpp"
#include "store/support/stopping_clock.hpp"
#include "store/support/temp_dir.hpp"

// A process that is stopped in the middle of a step keeps its shard locked. What is in other shards
// goes on as if nothing had happened.

namespace airlock {
namespace {

class AStoppedShard : public ::testing::Test {
 protected:
  [[nodiscard]] Store open(Duration timeout = 1s) const {
    return shm::make_store({.dir = dir_.path(), .timeout = timeout}, Clock::system());
  }

  // Stopped with the lock of the gate's shard.
  [[nodiscard]] Child stop_at(const GateName& gate) const {
    Child child([&] {
      StoppingClock clock;
      const auto store = shm::make_store({.dir = dir_.path()}, clock);
      (void)store.look(gate);
      clock.stop_at_next_step();
      (void)store.look(gate);
    });
    child.wait_until_stopped();
    return child;
  }

  // Whether the gate is in a shard that is locked.
  [[nodiscard]] bool is_stopped(const GateName& gate) const {
    try {
      (void)impatient_.look(gate);
      return false;
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), StoreError::Kind::busy);
      return true;
    }
  }

  TempDir dir_;
  Store store_ = open();
  Store impatient_ = open(20ms);
};

TEST_F(AStoppedShard, CostsNoLeaseInOthers) {
  constexpr int kLeases = 45;
  const KeyedLock orders(store_, "orders", {.ttl = 2s});
  std::map<std::string, Lease> leases;
  for (int i = 0; i < kLeases; ++i) {
    leases.emplace(std::to_string(i), orders.lock(std::to_string(i)));
  }
  const Child stopped = stop_at(orders.gate("0"));
  std::this_thread::sleep_for(5s);  // More than two ttls: what was not renewed is lost.
  int healthy = 0;
  for (const auto& [key, lease] : leases) {
    if (is_stopped(orders.gate(key))) continue;
    ++healthy;
    EXPECT_TRUE(lease.valid()) << key;
  }
  EXPECT_GT(healthy, kLeases / 2);
  EXPECT_FALSE(leases.at("0").valid()) << "nobody can renew it";
}

TEST_F(AStoppedShard, FailsNoCallInOthers) {
  const KeyedBulkhead tenants(store_, "tenants", {.limit = 1, .outage = Outage::open});
  const Child stopped = stop_at(tenants.gate("0"));
  EXPECT_THROW((void)tenants.acquire("0"), SealAcquiringError) << "busy is not an outage";
  int healthy = 0;
  for (int i = 1; i < 45; ++i) {
    const std::string key = std::to_string(i);
    if (is_stopped(tenants.gate(key))) continue;
    ++healthy;
    EXPECT_TRUE(tenants.acquire(key).guarded()) << key;
  }
  EXPECT_GT(healthy, 22);
}

TEST_F(AStoppedShard, BlocksNoCallerOfEnterAsync) {
  constexpr int kCalls = 100;
  const Airlock erp(store_, "erp", {.limit = 1, .max_wait = 0s});
  const Child stopped = stop_at("erp");
  std::atomic<int> failed = 0;
  const auto waited = testing::cpu_wait();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) {
    erp.enter_async({}, [&](Arrival& arrival) {
      EXPECT_THROW((void)arrival.take(), SealAcquiringError);
      ++failed;
    });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began - (testing::cpu_wait() - waited), 1s)
      << "what one that waits takes";
  // One after the other they would wait for a timeout each, however fast the machine is.
  EXPECT_TRUE(becomes_true([&] { return failed == kCalls; }, kCalls * 1s / 2));
}

TEST_F(AStoppedShard, IsWaitedForOnceAndTheOthersAreRenewedAndGivenBack) {
  const auto store = open(200ms);
  std::vector<RenewItem> renewals;
  std::vector<internal::ReleaseItem> releases;
  for (int i = 0; i < 45; ++i) {
    const std::string gate = "gate" + std::to_string(i % 9 == 0 ? 0 : i);
    const Answer answer = store.admit(
        {.gate = gate, .visitor = VisitorId::random(), .permits = Permits{.limit = 9, .ttl = 1h}});
    Token token = std::get<Granted>(answer).token;
    token.place = 0;  // As if its text had been read.
    renewals.push_back({.token = token, .ttl = 2h});
    releases.push_back({.token = token});
  }
  const Child stopped = stop_at("gate0");
  const auto began = std::chrono::steady_clock::now();
  testing::FaultyStore faulty(store);  // It hands on what it is given.
  EXPECT_THROW(faulty.renew(renewals), StoreError);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4 * 200ms) << "five items wait once";
  internal::backend_of(store)->release_all(releases);
  for (std::size_t i = 0; i < renewals.size(); ++i) {
    const bool is_healthy = !is_stopped(renewals[i].token.gate);
    EXPECT_EQ(renewals[i].result, is_healthy ? Renewal::renewed : Renewal::unknown) << i;
    EXPECT_EQ(releases[i].is_over, is_healthy) << i;
  }
}

}  // namespace
}  // namespace airlock
