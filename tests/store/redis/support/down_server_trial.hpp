#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "airlock/bulkhead.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/support/bare_cluster.hpp"
#include "store/redis/support/server.hpp"
#include "support/chaos.hpp"

namespace airlock::testing {

// Sixteen threads use the keys of one KeyedBulkhead, which are at all servers of a cluster, while one of
// them is lost.
class DownServerTrial {
 public:
  static constexpr std::uint32_t kLimit = 2;

  DownServerTrial(BareCluster& cluster, Outage outage,
                  Duration timeout = std::chrono::milliseconds(500))
      : cluster_(cluster),
        timeout_(timeout),
        store_(
            open_store(cluster.uri("prefix=" + unused_prefix() + "&timeout=" + to_text(timeout)))),
        bulkhead_(store_, "keyed",
                  {.limit = kLimit, .ttl = std::chrono::seconds(30), .outage = outage}),
        inside_(kKeys) {}

  // `lost`: the server that is going to be lost. Returns when all threads are at work.
  void start(std::size_t lost) {
    lost_ = lost;
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { use_keys(i); });
    wait_until("all threads are at work", [this] { return calls_ > 4 * kThreads; });
  }
  void stop() {
    stopping_ = true;
    threads_.clear();
  }

  // After stop().
  void expect_nothing_at_healthy_servers() const {
    EXPECT_EQ(failed_, 0U) << first_failure_;
    EXPECT_EQ(unguarded_, 0U);
    EXPECT_EQ(over_limit_, 0U);
    EXPECT_GT(healthy_, 100U) << "of " << calls_ << " calls";
    EXPECT_GT(at_lost_ + (lost_ < cluster_.size() ? 0 : 1), 0U) << "of " << calls_ << " calls";
  }

  // The same for ./dev chaos.
  [[nodiscard]] ChaosRow row() const {
    return {.scenario = {},
            .operations = calls_,
            .over_admissions = over_limit_ + unguarded_,
            .leaks = left_behind(),
            .hangs = failed_.load(),
            .late_returns = late_.load()};
  }

 private:
  static constexpr std::size_t kThreads = 16;
  static constexpr std::size_t kKeys = 60;
  static constexpr auto kSlack = std::chrono::milliseconds(500);  // The machine has more to do.

  static std::string key_of(std::size_t i) { return "key" + std::to_string(i); }

  void use_keys(std::size_t seed) {
    for (std::size_t i = seed; !stopping_; i += 7) use_key(i % kKeys);
  }

  void use_key(std::size_t i) {
    const std::string key = key_of(i);
    const bool healthy = cluster_.owner_of(bulkhead_.gate(key).group()) != lost_;
    ++calls_;
    ++(healthy ? healthy_ : at_lost_);
    const auto start = std::chrono::steady_clock::now();
    try {
      Outcome<Lease> lease = bulkhead_.try_acquire(key);
      if (healthy && lease) work(*lease, i);
    } catch (const Error& error) {
      if (healthy && failed_++ == 0) note(error.what());
    }
    if (std::chrono::steady_clock::now() - start > timeout_ + kSlack) ++late_;
  }

  // Slots that are taken at healthy servers.
  [[nodiscard]] std::uint64_t left_behind() const {
    std::vector<GateName> gates;
    for (std::size_t i = 0; i < kKeys; ++i) {
      const GateName gate = bulkhead_.gate(key_of(i));
      if (cluster_.owner_of(gate.group()) != lost_) gates.push_back(gate);
    }
    std::uint64_t left = 0;
    for (const GateCounts& counts : store_.counts(gates)) left += counts.in_use;
    return left;
  }

  void work(Lease& lease, std::size_t i) {
    if (!lease.guarded()) {
      ++unguarded_;
      return;
    }
    if (++inside_[i] > kLimit) ++over_limit_;
    std::this_thread::yield();
    --inside_[i];
    lease.release();
  }

  void note(const std::string& failure) {
    const std::lock_guard lock(mutex_);
    first_failure_ = failure;
  }

  BareCluster& cluster_;
  const Duration timeout_;
  const Store store_;
  const KeyedBulkhead bulkhead_;
  std::vector<std::atomic<std::uint32_t>> inside_;
  std::size_t lost_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> calls_ = 0, healthy_ = 0, at_lost_ = 0, late_ = 0;
  std::atomic<std::uint64_t> failed_ = 0, unguarded_ = 0, over_limit_ = 0;
  mutable std::mutex mutex_;
  std::string first_failure_;
  std::vector<std::jthread> threads_;
};

}  // namespace airlock::testing
