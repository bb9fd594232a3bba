#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "airlock/store.hpp"
#include "store/redis/call.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/any_clock.hpp"
#include "store/support/failures.hpp"

// How long a script keeps the server from everybody else. The server's own measure goes on while the machine
// runs something else, so its percentiles are shown for whoever has a quiet one. What is required is processor
// time: a call that ends thousands exceeds it.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::RedisServer;

class ScriptTime : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kHolders = 100'000;
  static constexpr std::uint32_t kWaiters = 20'000;
  static constexpr std::uint32_t kGivenUp = 100'000;
  static constexpr double kMost = 1'000;  // Microseconds.

  static Request ask(std::uint32_t limit, Duration ttl = 24h) {
    Request ask = asks("gate", VisitorId::random(), limit);
    ask.permits->ttl = ttl;
    return ask;
  }
  Token enters(Duration ttl = 24h) {
    return std::get<Granted>(store_.admit(ask(2 * kHolders, ttl))).token;
  }

  // What stands behind `field` in what the server tells of itself.
  double told(const char* section, const std::string& field) {
    const std::string info = server_.command({"INFO", section});
    const std::size_t at = info.find(field);
    return at == std::string::npos ? 0 : std::stod(info.substr(at + field.size()));
  }
  double cpu_seconds() {
    return told("cpu", "used_cpu_user_main_thread:") + told("cpu", "used_cpu_sys_main_thread:");
  }

  // Microseconds of processor time for each script that these steps run, its input and output included.
  double cost(const char* what, const std::function<void()>& steps) {
    server_.command({"CONFIG", "RESETSTAT"});
    const double before = cpu_seconds();
    steps();
    const double used = 1e6 * (cpu_seconds() - before) / told("commandstats", "evalsha:calls=");
    const std::string stats = server_.command({"INFO", "latencystats"});
    const std::size_t at = stats.find("evalsha:p50=");
    std::cout << what << ": " << used << " us of processor time each; "
              << stats.substr(at, stats.find('\r', at) - at) << " us" << std::endl;
    return used;
  }

  testing::AnyClock clock_;
  RedisServer server_{{"--latency-tracking-info-percentiles", "50 99 99.9 100"}};
  const Store store_ = redis::make_store({.address = server_.address(),
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
    for (int i = 0; i < 5'000; ++i) EXPECT_TRUE(store_.release(enters()));
  };
  const auto renew = [&] { store_.renew(std::span(items).first(10'000)); };
  const auto change = [&] {
    for (std::uint32_t i = 0; i < kHolders; i += 20) {
      EXPECT_TRUE(store_.release(items[i].token));
      items[i].token = enters();
    }
  };
  const auto next = [&] {
    for (int i = 0; i < 100; ++i) (void)enters();
  };
  const auto look = [&] { EXPECT_EQ(store_.look("gate")->holders.size(), kHolders); };
  const auto read = [&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(store_.holds(items.front().token));
      EXPECT_EQ(store_.survey().at(0).gate.counts.holders, kHolders);
    }
  };
  EXPECT_LT(cost("the newest goes out", come_and_go), kMost);
  EXPECT_LT(cost("a look", look), kMost);
  EXPECT_LT(cost("a lease is asked for, and a survey made", read), kMost);
  EXPECT_LT(cost("renewals", renew), kMost);
  EXPECT_LT(cost("a random one goes out", change), kMost);
  clock_.advance(2h);
  EXPECT_LT(cost("45 000 end at once", next), kMost);
  EXPECT_EQ(store_.look("gate")->counters.expired, 45'000U);
}

TEST_F(ScriptTime, IsShortWhereManyWaitersAreHandedASlotAtOnce) {
  Request all = ask(kWaiters);
  all.permits->weight = kWaiters;
  const Token token = std::get<Granted>(store_.admit(all)).token;
  for (std::uint32_t i = 0; i < kWaiters; ++i) {
    Request waiter = ask(kWaiters);
    waiter.line.join = true;
    waiter.line.patience = 24h;
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(waiter)));
  }
  const auto release = [&] { EXPECT_TRUE(store_.release(token)); };
  EXPECT_LT(cost("20 000 hand-overs at once", release), kMost);
}

// A newcomer, a holder that releases and whoever uses another gate are not held up by those who are gone.
TEST_F(ScriptTime, ManyWaitersThatAreGivenUpTogetherDelayNobody) {
  Request all = ask(1);
  const Token token = std::get<Granted>(store_.admit(all)).token;
  for (std::uint32_t i = 0; i < kGivenUp; ++i) {
    Request waiter = ask(1);
    waiter.line.join = true;
    waiter.line.patience = 10s;
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(waiter)));
  }
  clock_.advance(5s);
  Request alive = ask(1);
  alive.line.join = true;
  alive.line.patience = 1h;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(alive)));
  clock_.advance(6s);
  const auto delay_of = [&](const char* what, const auto& step) {
    const auto begin = std::chrono::steady_clock::now();
    step();
    const auto took = std::chrono::steady_clock::now() - begin;
    std::cout << what << ": " << std::chrono::duration<double, std::milli>(took).count() << " ms\n";
    EXPECT_LT(took, 500ms) << what;  // Ten times what it takes on a quiet machine.
  };
  Request late = ask(1);
  const auto steps = [&] {
    delay_of("refused", [&] { EXPECT_TRUE(std::holds_alternative<Refused>(store_.admit(late))); });
    late.line.join = true;
    delay_of("queued", [&] { EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(late))); });
    delay_of("released", [&] { EXPECT_TRUE(store_.release(token)); });
    Answer answer = store_.admit(alive);
    ASSERT_TRUE(std::holds_alternative<Granted>(answer));
    delay_of("released", [&] { EXPECT_TRUE(store_.release(std::get<Granted>(answer).token)); });
    answer = store_.admit(late);
    ASSERT_TRUE(std::holds_alternative<Granted>(answer));
    delay_of("released", [&] { EXPECT_TRUE(store_.release(std::get<Granted>(answer).token)); });
    delay_of("granted",
             [&] { EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(ask(1)))); });
  };
  EXPECT_LT(cost("while they are given up", steps), kMost);
  EXPECT_GT(std::stol(server_.command({"ZCARD", redis::Naming("test").key("gate", ":out")})), 0);
  EXPECT_EQ(store_.look("gate")->counters.abandoned, kGivenUp);
}

TEST_F(ScriptTime, IsShortWhereEverybodyIsRevokedOrPurged) {
  for (std::uint32_t i = 0; i < kHolders; ++i) (void)enters();
  const auto revoke = [&](Revoke how) {
    return [&, how] { EXPECT_EQ(store_.revoke("gate", std::nullopt, how), kHolders); };
  };
  EXPECT_LT(cost("100 000 are revoked", revoke(Revoke::graceful)), kMost);
  server_.command({"HDEL", redis::Naming("test").key("gate", ":gate"), "s"});
  const auto next = [&] { (void)store_.release(enters()); };
  EXPECT_LT(cost("100 000 are repaired", next), kMost);
  EXPECT_LT(cost("100 000 are revoked now", revoke(Revoke::now)), kMost);
  EXPECT_EQ(store_.look("gate")->counts.in_use, 0U);
  for (std::uint32_t i = 0; i < kWaiters; ++i) (void)enters();
  EXPECT_LT(cost("20 000 are purged", [&] { EXPECT_TRUE(store_.purge("gate")); }), kMost);
}

}  // namespace
}  // namespace airlock
