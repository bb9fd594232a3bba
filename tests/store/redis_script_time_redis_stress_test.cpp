#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "airlock/store.hpp"
#include "store/redis/redis_store.hpp"
#include "store/support/any_clock.hpp"
#include "store/support/failures.hpp"
#include "store/support/redis_server.hpp"

// How long a script keeps the server from everybody else, by the server's own measure. That goes on
// while the machine runs something else, so the percentiles are shown for whoever has a quiet one, and
// what is required is only that the work of a call has a bound: a call that ends thousands exceeds it.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::RedisServer;

class ScriptTime : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kHolders = 100'000;
  static constexpr std::uint32_t kWaiters = 20'000;
  static constexpr double kMost = 2'000;  // Microseconds.

  static Request ask(std::uint32_t limit, Duration ttl = 24h) {
    Request ask = asks("gate", VisitorId::random(), limit);
    ask.permits->ttl = ttl;
    return ask;
  }
  Token enters(Duration ttl = 24h) {
    return std::get<Granted>(store_->admit(ask(2 * kHolders, ttl))).token;
  }

  // Of the scripts that these steps ran.
  double median(const char* what, const std::function<void()>& steps) {
    server_.command({"CONFIG", "RESETSTAT"});
    steps();
    const std::string stats = server_.command({"INFO", "latencystats"});
    const std::size_t at = stats.find("evalsha:p50=");
    const std::string percentiles = stats.substr(at, stats.find('\r', at) - at);
    std::cout << what << ": " << percentiles << " us" << std::endl;
    return std::stod(percentiles.substr(percentiles.find('=') + 1));
  }

  testing::AnyClock clock_;
  RedisServer server_{{"--latency-tracking-info-percentiles", "50 99 99.9 100"}};
  const std::shared_ptr<Store> store_ = redis::make_store({.address = server_.address(),
                                                           .prefix = "test",
                                                           .timeout = 1min,
                                                           .scripts = &stepped::scripts(),
                                                           .stepped = &clock_});
};

TEST_F(ScriptTime, IsShortAtAGateWithAHundredThousandHolders) {
  std::vector<RenewItem> items;
  for (std::uint32_t i = 0; i < kHolders; ++i) {
    items.push_back({.token = enters(i % 2 == 0 ? 24h : 1h), .ttl = 24h});
  }
  const auto come_and_go = [&] {
    for (int i = 0; i < 5'000; ++i) EXPECT_TRUE(store_->release(enters()));
  };
  const auto renew = [&] { store_->renew(std::span(items).first(10'000)); };
  const auto change = [&] {
    for (std::uint32_t i = 0; i < kHolders; i += 20) {
      EXPECT_TRUE(store_->release(items[i].token));
      items[i].token = enters();
    }
  };
  const auto next = [&] { (void)enters(); };
  const auto look = [&] { EXPECT_EQ(store_->look("gate")->holders.size(), kHolders); };
  const auto read = [&] {
    EXPECT_TRUE(store_->holds(items.front().token));
    EXPECT_EQ(store_->survey().at(0).gate.counts.holders, kHolders);
  };
  EXPECT_LT(median("the newest goes out", come_and_go), kMost);
  EXPECT_LT(median("a look", look), kMost);
  EXPECT_LT(median("a lease is asked for, and a survey made", read), kMost);
  EXPECT_LT(median("renewals", renew), kMost);
  EXPECT_LT(median("a random one goes out", change), kMost);
  clock_.advance(2h);
  EXPECT_LT(median("45 000 end at once", next), kMost);
  EXPECT_EQ(store_->look("gate")->counters.expired, 45'000U);
}

TEST_F(ScriptTime, IsShortWhereManyWaitersAreHandedASlotAtOnce) {
  Request all = ask(kWaiters);
  all.permits->weight = kWaiters;
  const Token token = std::get<Granted>(store_->admit(all)).token;
  for (std::uint32_t i = 0; i < kWaiters; ++i) {
    Request waiter = ask(kWaiters);
    waiter.line.join = true;
    waiter.line.patience = 24h;
    ASSERT_TRUE(std::holds_alternative<Queued>(store_->admit(waiter)));
  }
  const auto release = [&] { EXPECT_TRUE(store_->release(token)); };
  EXPECT_LT(median("20 000 hand-overs at once", release), kMost);
}

}  // namespace
}  // namespace airlock
