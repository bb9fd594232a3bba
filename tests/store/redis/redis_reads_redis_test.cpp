#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/metrics.hpp"
#include "airlock/store.hpp"
#include "airlock/testing.hpp"
#include "store/redis/call.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/wire.hpp"
#include "store/support/failures.hpp"
#include "testing/stepped_clock.hpp"

// What reads: it writes nothing, takes large states in portions, and shows what it cannot read.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RedisServer;
using ::testing::SizeIs;

class RedisReads : public ::testing::Test {
 protected:
  std::string command(const std::vector<std::string>& words) { return server_.command(words); }
  static std::string key(const GateName& gate, std::string_view part = ":gate") {
    return redis::Naming("test").key(gate, part);
  }
  Token enters(const GateName& gate, Duration ttl = 1h, std::uint32_t limit = 1'000'000) {
    Request ask = asks(gate, VisitorId::random(), limit);
    ask.permits->ttl = ttl;
    return std::get<Granted>(store_.admit(ask)).token;
  }
  void waits(const GateName& gate, Duration patience = 1h) {
    Request ask = asks(gate, VisitorId::random(), 1);
    ask.line.join = true;
    ask.line.patience = patience;
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(ask)));
  }

  // How often the commands of these steps were run.
  std::uint64_t count(const std::string& name) {
    const std::string stats = command({"INFO", "commandstats"});
    const std::string start = "cmdstat_" + name + ":calls=";
    const std::size_t at = stats.find(start);
    return at == std::string::npos ? 0 : std::stoull(stats.substr(at + start.size()));
  }
  std::uint64_t writes() {
    std::uint64_t sum = 0;
    for (const char* name :
         {"hset", "hdel", "zadd", "zrem", "zpopmin", "pexpire", "persist", "del", "unlink"}) {
      sum += count(name);
    }
    return sum;
  }
  // Copies of a gate, made by the server.
  void copy(const GateName& gate, std::size_t copies) {
    command({"EVAL",
             "local m = redis.call('HGET', KEYS[1], 'm') "
             "for i = 1, ARGV[1] do "
             "  local key = 'test:{many:' .. i .. '}:gate' "
             "  redis.call('HSET', key, 'm', m, 's', '1') redis.call('PEXPIRE', key, 3600000) "
             "end",
             "1", key(gate), std::to_string(copies)});
  }

  internal::SteppedClock clock_;
  RedisServer server_;
  const Store store_ = redis::make_store({.address = server_.address(),
                                          .prefix = "test",
                                          .timeout = 5s,
                                          .scripts = &stepped::scripts(),
                                          .stepped = &clock_});
};

// Listing settled every gate and forgot idle ones.
TEST_F(RedisReads, WriteNothing) {
  const Token ann = enters("gate", 10s);
  enters("lock", 10s, 1);
  waits("lock", 10s);
  store_.pause("paused", 1s);
  (void)store_.release(enters("idle"));
  (void)store_.id();
  const std::vector<GateName> gates = {"gate", "lock", "paused", "idle", "unknown"};
  for (const Duration passes : {Duration(0), Duration(11s), Duration(11min)}) {
    clock_.advance(passes);
    command({"CONFIG", "RESETSTAT"});
    (void)store_.list();
    (void)store_.survey();
    (void)store_.counts(gates);
    (void)store_.holds(ann);
    std::ostringstream metrics;
    write_metrics(store_, metrics);
    EXPECT_EQ(writes(), 0U) << to_text(passes);
  }
  EXPECT_THAT(store_.list(), IsEmpty());
  EXPECT_EQ(command({"EXISTS", key("idle")}), "1");
}

// An operator who may only read sees all of it.
TEST_F(RedisReads, NeedNoRightToWrite) {
  const auto store = open_store(server_.uri() + "?prefix=test");
  Request ask = asks("gate", VisitorId::random());
  (void)store.admit(ask);
  ask.visitor = VisitorId::random();
  ask.line.join = true;
  (void)store.admit(ask);
  command({"ACL", "SETUSER", "reader", "on", ">reader", "~*", "&*", "+@all", "-@write"});
  const auto reader =
      open_store("redis+unix://reader:reader@" + server_.socket() + "?prefix=test&timeout=5s");
  EXPECT_THAT(reader.list(), SizeIs(1));
  EXPECT_EQ(reader.counts(std::vector<GateName>{"gate"}).at(0).waiting, 1U);
}

// One foreign key, or a gate of another version, made all of these fail.
TEST_F(RedisReads, ShowWhatTheyCannotReadAndContinue) {
  enters("a");
  command({"SET", key("foreign"), "mine"});
  command({"HSET", key("garbled"), "m", std::string(1, '\2')});
  command({"HSET", key("newer"), "m", std::string(1, '\x63') + " who knows"});
  command({"SET", "test:{no name}:gate", "mine"});
  command({"HSET", "test:{" + std::string(300, 'x') + "}:gate", "m", "mine"});
  enters("z");
  const std::vector<GateSummary> all = store_.survey();
  ASSERT_THAT(all, SizeIs(5));
  EXPECT_EQ(all[0].gate.counts.holders, 1U);
  EXPECT_EQ(all[1].gate.name, "foreign");
  EXPECT_THAT(all[1].unreadable, HasSubstr("holds something else"));
  EXPECT_EQ(all[2].gate.name, "garbled");
  EXPECT_NE(all[2].unreadable, "");
  EXPECT_EQ(all[3].gate.name, "newer");
  EXPECT_THAT(all[3].unreadable, HasSubstr("schema 99"));
  EXPECT_EQ(all[4].gate.counts.holders, 1U);
  EXPECT_EQ(all[4].unreadable, "");
  EXPECT_THAT(store_.list(), ::testing::ElementsAre("a", "foreign", "garbled", "newer", "z"));
  std::ostringstream metrics;
  write_metrics(store_, metrics);
  EXPECT_THAT(metrics.str(), HasSubstr("\nairlock_unreadable_gates 3\n"));
  EXPECT_THAT(metrics.str(), HasSubstr("airlock_holders{gate=\"z\"} 1\n"));
  EXPECT_NO_THROW(store_.collect());
  EXPECT_EQ(command({"GET", key("foreign")}), "mine");
}

// One script copied all of them: a second for 100 000.
TEST_F(RedisReads, LookAtALargeGateInPortions) {
  constexpr std::size_t kHolders = 3'000;
  std::set<Fence> fences;
  for (std::size_t i = 0; i < kHolders; ++i) fences.insert(enters("gate").fence);
  for (std::size_t i = 0; i < 1'000; ++i) waits("gate");
  command({"CONFIG", "RESETSTAT"});
  const auto view = store_.look("gate");
  EXPECT_GE(count("hscan"), 4'000U / 512);
  EXPECT_EQ(count("hscan"), count("evalsha"));
  EXPECT_EQ(view->counts.holders, kHolders);
  std::set<Fence> seen;
  for (const HolderView& holder : view->holders) seen.insert(holder.fence);
  EXPECT_EQ(seen, fences);
  EXPECT_THAT(view->holders, SizeIs(kHolders));
  EXPECT_THAT(view->line, SizeIs(1'000));
  EXPECT_TRUE(std::ranges::is_sorted(view->holders, std::greater(), &HolderView::age));
  EXPECT_TRUE(std::ranges::is_sorted(view->line, std::greater(), &WaiterView::waited));
}

TEST_F(RedisReads, LookAtAnOrdinaryGateInOneStep) {
  for (std::size_t i = 0; i < 100; ++i) enters("gate");
  command({"CONFIG", "RESETSTAT"});
  EXPECT_THAT(store_.look("gate")->holders, SizeIs(100));
  EXPECT_EQ(count("evalsha"), 1U);
}

// Copied every holder and waiter to answer for one.
TEST_F(RedisReads, AskForOneLeaseWithoutReadingTheOthers) {
  const Token token = enters("gate");
  for (std::size_t i = 0; i < 500; ++i) enters("gate");
  command({"CONFIG", "RESETSTAT"});
  EXPECT_TRUE(store_.holds(token));
  EXPECT_EQ(count("evalsha"), 1U);
  EXPECT_EQ(count("hmget"), 1U);
  EXPECT_EQ(count("hscan") + count("zrange") + count("hget"), 0U);
}

// As the gate is once somebody has ended what ran out.
TEST_F(RedisReads, SurveyWhatHasRunOutInPortions) {
  for (std::size_t i = 0; i < 400; ++i) enters("gate", i < 300 ? 10s : 1h);
  (void)store_.release(enters("gate"));
  for (std::size_t i = 0; i < 400; ++i) waits("gate", i < 350 ? 10s : 1h);
  store_.pause("gate", 1h);  // Nobody is handed anything.
  clock_.advance(11s);
  command({"CONFIG", "RESETSTAT"});
  const GateView survey = store_.survey().at(0).gate;
  EXPECT_EQ(count("evalsha"), 1U + 8U);
  const GateCounts counts = store_.counts(std::vector<GateName>{"gate"}).at(0);
  const auto look = store_.look("gate");
  EXPECT_EQ(survey.counts, look->counts);
  EXPECT_EQ(survey.counters, look->counters);
  EXPECT_EQ(counts, look->counts);
  EXPECT_EQ(look->counts.holders, 100U);
  EXPECT_EQ(look->counts.waiting, 50U);
}

TEST_F(RedisReads, SurveyWhateverHasRunOutAsALookDoes) {
  const auto ask = [&](const GateName& gate, Duration ttl, std::uint32_t weight = 1) {
    Request made = asks(gate, VisitorId::random(), 8);
    made.permits->ttl = ttl;
    made.permits->weight = weight;
    made.permits->exclusive = gate.view().starts_with("lock");
    return made;
  };
  const auto enter = [&](const GateName& gate, Duration ttl) {
    return std::get<Granted>(store_.admit(ask(gate, ttl))).token;
  };
  for (const Duration patience : {Duration(1s), Duration(1h)}) {  // Handed over and not claimed.
    const GateName gate = patience == 1s ? "missed:gone" : "missed:waits";
    Request all = ask(gate, 1h, 8);
    const Token token = std::get<Granted>(store_.admit(all)).token;
    all = ask(gate, 1h);
    all.line = {.join = true, .patience = patience, .claim_window = 2s};
    (void)store_.admit(all);
    EXPECT_TRUE(store_.release(token));
    store_.pause(gate, 1h);
  }
  (void)store_.revoke("revoked", enter("revoked", 9s).visitor, Revoke::graceful);
  enter("revoked", 1h);
  enter("lock:readers", 1h);
  enter("lock:readers", 1h);
  store_.set_limit("lock:readers", 3);
  enter("lock:second", 1s);
  enter("lock:second", 1h);
  const Token first = enter("lock:other", 1h);
  enter("lock:other", 1h);
  EXPECT_TRUE(store_.release(first));
  const Rate rate{.count = 9, .period = 1s};
  (void)store_.admit(
      {.gate = "deduped", .visitor = VisitorId::random(), .rates = {&rate, 1}, .dedupe = 2s});
  clock_.advance(5s);
  for (const GateSummary& summary : store_.survey()) {
    const auto look = store_.look(summary.gate.name);
    EXPECT_EQ(summary.gate.counts, look->counts) << summary.gate.name;
    EXPECT_EQ(summary.gate.counters, look->counters) << summary.gate.name;
    const bool names_one = look->counts.exclusive && look->counts.holders == 1;
    ASSERT_EQ(summary.gate.holders.size(), names_one ? 1U : 0U) << summary.gate.name;
    if (names_one) {
      EXPECT_EQ(summary.gate.holders[0].visitor, look->holders[0].visitor);
    }
  }
  EXPECT_THAT(store_.survey(), SizeIs(7));
}

// Somebody has deleted a part of them.
TEST_F(RedisReads, SurveyGatesThatAreNotWhole) {
  Request reader = asks("lock", VisitorId::random(), 8);
  reader.permits->exclusive = true;
  (void)store_.admit(reader);
  command({"HDEL", key("lock"), redis::pack_visitor(reader.visitor)});
  EXPECT_EQ(store_.survey().at(0).gate.counts.holders, 1U);
  reader.visitor = VisitorId::random();
  (void)store_.admit(reader);
  clock_.advance(1min);
  EXPECT_EQ(store_.survey().at(0).gate.counts.holders, 0U) << "one without a record";
  command({"DEL", key("lock", ":in")});
  EXPECT_THAT(store_.survey().at(0).gate.holders, IsEmpty());
  EXPECT_NO_THROW((void)store_.look("lock"));
}

// A script has ended in the middle, or a part was deleted: the records say who is there, and the next step
// repairs it.
TEST_F(RedisReads, CountTheRecordsOfAGateWhosePartsDoNotAgree) {
  const Token ann = enters("gate");
  for (std::size_t i = 0; i < 300; ++i) enters("gate", i < 100 ? 10s : 1h);
  for (std::size_t i = 0; i < 300; ++i) waits("gate", i < 200 ? 10s : 1h);
  store_.pause("gate", 1h);  // Nobody is handed anything.
  const std::string before = command({"DUMP", key("gate")});
  clock_.advance(11s);
  for (const std::vector<std::string>& loss : std::vector<std::vector<std::string>>{
           {"HDEL", key("gate"), "s"},
           {"HSET", key("gate"), "s", "v17", "no record at all", "really not"},
           {"ZREMRANGEBYRANK", key("gate", ":out"), "0", "0"},
           {"DEL", key("gate", ":in")},
           {"DEL", key("gate", ":in"), key("gate", ":out"), key("gate", ":line")}}) {
    command({"DEL", key("gate")});
    command({"RESTORE", key("gate"), "0", before});
    command(loss);
    command({"CONFIG", "RESETSTAT"});
    const GateCounts counts = store_.survey().at(0).gate.counts;
    EXPECT_EQ(counts.holders, 201U) << loss[0] << ' ' << loss[1];
    EXPECT_EQ(counts.in_use, 201U) << loss[0] << ' ' << loss[1];
    EXPECT_EQ(counts.waiting, 100U) << loss[0] << ' ' << loss[1];
    EXPECT_EQ(store_.counts(std::vector<GateName>{"gate"}).at(0), counts);
    EXPECT_TRUE(store_.holds(ann));
    EXPECT_EQ(writes(), 0U);
  }
  EXPECT_EQ(store_.look("gate")->counts.holders, 201U);
}

// Each lock was asked for once more, to name its holder, and each rate: 17 s for 100 000. A gate that nobody is in is none
// of the unusual, also where it was left alone for longer than its ttl.
TEST_F(RedisReads, AskOnceMoreOnlyForUnusualGates) {
  for (int i = 0; i < 32; ++i) {
    Request lock = asks("held:" + std::to_string(i), VisitorId::random());
    lock.permits->exclusive = true;
    lock.permits->ttl = 1h;
    (void)store_.admit(lock);
    (void)store_.release(enters("used:" + std::to_string(i), 10s));
  }
  clock_.advance(11s);
  command({"CONFIG", "RESETSTAT"});
  const std::vector<GateSummary> all = store_.survey();
  EXPECT_THAT(all, SizeIs(64));
  EXPECT_THAT(all.front().gate.holders, SizeIs(1));
  EXPECT_EQ(count("evalsha"), 64U / 16);
  const Rate rate{.count = 9, .period = 1h};
  (void)store_.admit({.gate = "rated", .visitor = VisitorId::random(), .rates = {&rate, 1}});
  store_.pause("paused", 1h);
  command({"HDEL", key("held:7"), "s"});
  command({"CONFIG", "RESETSTAT"});
  EXPECT_THAT(store_.survey(), SizeIs(66));
  EXPECT_EQ(count("evalsha"), 80U / 16 + 2) << "not whole: it is surveyed, and its visits are read";
  std::vector<GateName> gates = {"used:1", "held:1", "unknown", "held:2"};
  const std::vector<GateCounts> counts = store_.counts(gates);
  EXPECT_EQ(counts[0].holders, 0U);
  EXPECT_EQ(counts[1].holders, 1U);
  EXPECT_EQ(counts[2].limit, 0U);
  EXPECT_EQ(counts[3].holders, 1U);
}

TEST_F(RedisReads, TheFirstIdWinsAndACopyIsReplaced) {
  const auto identity = [&](const std::string& number, const std::string& replaces) {
    const auto& script = stepped::scripts()[static_cast<std::size_t>(redis::Step::identity)];
    return command({"EVAL", std::string(script.text), "1", "id", "1", number, replaces, "0", "0"});
  };
  EXPECT_EQ(identity("5", "0"), "5");
  EXPECT_EQ(identity("6", "0"), "5");
  EXPECT_EQ(identity("", "0"), "5");
  EXPECT_EQ(identity("6", "1"), "6");
  EXPECT_EQ(identity("6", "1"), "6");
}

// It had one deadline for all of them, missed it, and the server was taken for one that is silent.
TEST_F(RedisReads, CountFiftyThousandGatesWithTheUsualTimeout) {
  constexpr std::size_t kGates = 50'000;
  const auto store = open_store(server_.uri() + "?prefix=test");
  (void)store.admit(asks("gate", VisitorId::random()));
  copy("gate", kGates);
  std::vector<GateName> gates;
  for (std::size_t i = 1; i <= kGates; ++i) gates.emplace_back("many:" + std::to_string(i));
  const std::vector<GateCounts> counts = store.counts(gates);
  EXPECT_THAT(counts, ::testing::AllOf(SizeIs(kGates),
                                       ::testing::Each(::testing::Field(&GateCounts::limit, 1U))));
  EXPECT_THAT(store.list(), SizeIs(kGates + 1));
  EXPECT_TRUE(std::holds_alternative<Granted>(store.admit(asks("after", VisitorId::random()))));
}

}  // namespace
}  // namespace airlock
