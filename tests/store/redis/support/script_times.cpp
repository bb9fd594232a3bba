#include "store/redis/support/script_times.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <variant>

#include "store/redis/call.hpp"
#include "store/support/failures.hpp"

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;

constexpr const char* kGate = "gate";
constexpr double kMost = 1'000;  // Microseconds.

// What stands behind `field`, and behind `name` of what follows it.
double value_behind(const std::string& info, const std::string& field, const std::string& name) {
  const std::size_t line = info.find(field);
  const std::size_t at = line == std::string::npos ? line : info.find(name, line);
  return at == std::string::npos ? 0 : std::stod(info.substr(at + name.size()));
}

}  // namespace

ScriptTimes::ScriptTimes(std::uint32_t many) : many_(many) {}

Request ScriptTimes::ask(std::uint32_t limit, Duration ttl) {
  Request ask = asks(kGate, VisitorId::random(), limit);
  ask.permits->ttl = ttl;
  return ask;
}

Token ScriptTimes::enters(std::uint32_t limit, Duration ttl) {
  return std::get<Granted>(store_.admit(ask(limit, ttl))).token;
}

VisitorId ScriptTimes::waits(std::uint32_t limit, Duration patience, Order order) {
  Request waiter = ask(limit, 24h);
  waiter.line = {.join = true, .order = order, .patience = patience};
  EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(waiter)));
  return waiter.visitor;
}

void ScriptTimes::measure(const std::string& what, const std::function<void()>& steps) {
  server_.command({"CONFIG", "RESETSTAT"});
  steps();
  const std::string calls = server_.command({"INFO", "commandstats"});
  const std::string times = server_.command({"INFO", "latencystats"});
  const auto percentile = [&](const char* name) { return value_behind(times, "_evalsha:", name); };
  const double mean = value_behind(calls, "_evalsha:", "usec_per_call=");
  std::printf("%-44s %6.0f scripts, us: p5 %4.0f, p50 %4.0f, mean %4.0f, p99.9 %5.0f\n",
              what.c_str(), value_behind(calls, "_evalsha:", "calls="), percentile("p5="),
              percentile("p50="), mean, percentile("p99.9="));
  (void)std::fflush(stdout);
  EXPECT_LT(mean, kMost) << what;
}

void ScriptTimes::measure_reads(const std::string& where) {
  const Token nobody{
      .store = store_.id(), .gate = kGate, .visitor = VisitorId::random(), .fence = 1};
  measure(where + ": look", [&] { (void)store_.look(kGate); });
  measure(where + ": survey", [&] {
    for (int i = 0; i < 10; ++i) (void)store_.survey();
  });
  measure(where + ": holds", [&] {
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(store_.holds(nobody));
  });
  measure(where + ": watch", [&] {
    for (int i = 0; i < 100; ++i) {
      const VisitorId visitor = VisitorId::random();
      (void)store_.watch(kGate, visitor, [] {});
      store_.unwatch(kGate, visitor);
    }
  });
  measure(where + ": pause, resume, limit", [&] {
    for (int i = 0; i < 100; ++i) {
      store_.pause(kGate, 1h);
      EXPECT_TRUE(store_.resume(kGate));
      store_.set_limit(kGate, 1);
      store_.set_limit(kGate, std::nullopt);
    }
  });
  measure(where + ": collect", [&] { store_.collect(); });
}

void ScriptTimes::at_a_gate_with_holders() {
  std::vector<RenewItem> items;
  for (std::uint32_t i = 0; i < many_; ++i) {
    items.push_back({.token = enters(2 * many_, 24h), .ttl = 24h});
  }
  const std::uint32_t some = many_ / 20;
  measure("holders: the newest is released", [&] {
    for (std::uint32_t i = 0; i < some; ++i) EXPECT_TRUE(store_.release(enters(2 * many_, 24h)));
  });
  measure("holders: any is released", [&] {
    for (std::uint32_t i = 0; i < many_; i += 20) {
      EXPECT_TRUE(store_.release(items[i].token));
      items[i].token = enters(2 * many_, 24h);
    }
  });
  measure("holders: refused", [&] {
    for (std::uint32_t i = 0; i < some; ++i) {
      EXPECT_TRUE(std::holds_alternative<Refused>(store_.admit(ask(many_, 1h))));
    }
  });
  store_.renew(std::span(items).first(1));
  measure("holders: renew", [&] { store_.renew(std::span(items).first(2 * some)); });
  measure("holders: disown, adopt", [&] {
    for (std::uint32_t i = 0; i < some; ++i) {
      EXPECT_TRUE(store_.disown(items[i].token));
      EXPECT_TRUE(store_.adopt(items[i].token));
    }
  });
  measure("holders: one is revoked", [&] {
    for (std::uint32_t i = 0; i < some; ++i) {
      (void)store_.revoke(kGate, items[i].token.visitor, Revoke::now);
    }
  });
  measure_reads("holders");
}

void ScriptTimes::at_a_gate_with_waiters(Order order) {
  std::vector<Token> held;
  const std::uint32_t some = many_ / 20;
  for (std::uint32_t i = 0; i < some; ++i) held.push_back(enters(some, 24h));
  std::vector<VisitorId> waiters;
  for (std::uint32_t i = 0; i < many_; ++i) waiters.push_back(waits(some, 24h, order));
  const std::string where = order == Order::fifo ? "waiters" : "aging lottery";
  measure(where + ": queued, asks again, leaves", [&] {
    for (std::uint32_t i = 0; i < some; ++i) {
      Request waiter = ask(some, 24h);
      waiter.line = {.join = true, .order = order, .patience = 24h};
      EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(waiter)));
      EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(waiter)));
      EXPECT_TRUE(store_.leave(kGate, waiter.visitor));
    }
  });
  measure(where + ": any leaves", [&] {
    for (std::uint32_t i = 0; i < some; ++i) EXPECT_TRUE(store_.leave(kGate, waiters[i * 19 + 7]));
  });
  measure(where + ": released and handed over", [&] {
    for (const Token& token : held) EXPECT_TRUE(store_.release(token));
  });
  measure_reads(where);
}

void ScriptTimes::where_holders_have_expired() {
  std::vector<RenewItem> items;
  const auto fill = [&] {
    items.clear();
    for (std::uint32_t i = 0; i < many_; ++i) {
      items.push_back({.token = enters(2 * many_, 1h), .ttl = 1h});
    }
    clock_.advance(2h);
  };
  fill();
  measure("expired holders: survey", [&] { (void)store_.survey(); });
  measure("expired holders: admit", [&] { EXPECT_TRUE(store_.release(enters(1, 24h))); });
  fill();
  measure("expired holders: renew", [&] { store_.renew(std::span(items).first(1'000)); });
  measure("expired holders: release", [&] {
    for (std::uint32_t i = many_ / 2; i < many_ / 2 + 100; ++i) {
      EXPECT_FALSE(store_.release(items[i].token));
    }
  });
  measure("expired holders: look", [&] { (void)store_.look(kGate); });
  fill();
  measure("expired holders: limit", [&] { store_.set_limit(kGate, 1); });
  measure("expired holders: revoke",
          [&] { (void)store_.revoke(kGate, std::nullopt, Revoke::now); });
  measure("expired holders: collect", [&] { store_.collect(); });
}

void ScriptTimes::where_waiters_have_expired(Order order) {
  const std::string where = order == Order::fifo ? "expired waiters" : "expired lottery";
  const Token token = enters(1, 24h);
  for (std::uint32_t i = 0; i < many_; ++i) (void)waits(1, 10s, order);
  clock_.advance(5s);
  Request alive = ask(1, 24h);
  alive.line = {.join = true, .order = order, .patience = 1h};
  EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(alive)));
  clock_.advance(6s);
  measure(where + ": survey", [&] { (void)store_.survey(); });
  measure(where + ": refused", [&] {
    for (int i = 0; i < 10; ++i) (void)store_.admit(ask(1, 1h));
  });
  measure(where + ": released and handed over", [&] {
    EXPECT_TRUE(store_.release(token));
    while (!std::holds_alternative<Granted>(
        store_.admit(alive))) {  // A lottery ends all of them first.
    }
  });
  measure(where + ": look", [&] { (void)store_.look(kGate); });
}

void ScriptTimes::where_all_are_handed_a_slot() {
  Request all = ask(many_, 24h);
  all.permits->weight = many_;
  const Token token = std::get<Granted>(store_.admit(all)).token;
  for (std::uint32_t i = 0; i < many_; ++i) (void)waits(many_, 24h);
  measure("all are handed a slot", [&] { EXPECT_TRUE(store_.release(token)); });
  clock_.advance(2s);
  measure("nobody claims it", [&] { (void)store_.look(kGate); });
}

void ScriptTimes::where_all_are_revoked_repaired_and_purged() {
  for (std::uint32_t i = 0; i < many_; ++i) (void)enters(many_, 24h);
  for (std::uint32_t i = 0; i < many_; ++i) (void)waits(many_, 24h);
  measure("all are revoked", [&] { (void)store_.revoke(kGate, std::nullopt, Revoke::graceful); });
  server_.command({"HDEL", redis::Naming("test").key(kGate, ":gate"), "s"});
  measure("parts that do not agree: survey", [&] { (void)store_.survey(); });
  measure("all are repaired", [&] { (void)store_.leave(kGate, VisitorId::random()); });
  measure("all are revoked at once",
          [&] { (void)store_.revoke(kGate, std::nullopt, Revoke::now); });
  for (std::uint32_t i = 0; i < many_ / 2; ++i) (void)waits(many_, 24h);
  measure("all are purged", [&] { EXPECT_TRUE(store_.purge(kGate)); });
}

}  // namespace airlock::testing
