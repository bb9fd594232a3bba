#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "airlock/bulkhead.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "airlock/testing.hpp"
#include "store/redis/call.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/wire.hpp"
#include "store/support/failures.hpp"
#include "support/paths.hpp"
#include "testing/stepped_clock.hpp"

// What a server says instead of an answer.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::failure_of;
using testing::RedisServer;
using testing::unused_prefix;
using Kind = StoreError::Kind;
using Result = StoreError::Outcome;
using ::testing::HasSubstr;
using ::testing::Not;

// Until it is so; a server that is not ready yet may refuse meanwhile.
void eventually(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < end) {
    try {
      if (is_so()) return;
    } catch (const StoreError&) {
    }
    std::this_thread::sleep_for(1ms);
  }
  FAIL() << "it does not come to be";
}

// --- what somebody else has written ---

class ForeignKeys : public ::testing::Test {
 protected:
  static std::string command(const std::vector<std::string>& words) {
    return RedisServer::shared().command(words);
  }
  [[nodiscard]] Store open(const std::string& prefix) {
    return redis::make_store({.address = RedisServer::shared().address(),
                              .prefix = prefix,
                              .timeout = 5s,
                              .scripts = &stepped::scripts(),
                              .stepped = &clock_});
  }
  [[nodiscard]] std::string key(std::string_view part, const GateName& gate = "gate") const {
    return redis::Naming(prefix_).key(gate, part);
  }
  [[nodiscard]] Answer join(const GateName& gate) const {
    Request ask = asks(gate, VisitorId::random());
    ask.line.join = true;
    return store_.admit(ask);
  }

  internal::SteppedClock clock_;
  const std::string prefix_ = unused_prefix();
  const Store store_ = open(prefix_);
};

TEST_F(ForeignKeys, AWrongTypeIsNamedAndNothingIsDestroyed) {
  for (const std::string_view part : redis::Naming::kParts) {
    command({"SET", key(part), "mine"});
    const auto failure = failure_of([&] {
      (void)store_.admit(asks("gate", VisitorId::random(), 3));
      const Answer first = store_.admit(asks("gate", VisitorId::random(), 3));
      (void)store_.admit(asks("gate", VisitorId::random(), 3));
      (void)join("gate");
      (void)store_.release(std::get<Granted>(first).token);
    });
    ASSERT_TRUE(failure) << part;
    EXPECT_EQ(failure->kind(), Kind::incompatible);
    EXPECT_EQ(failure->outcome(), Result::nothing_happened);
    EXPECT_THAT(failure->what(), HasSubstr("prefix"));
    EXPECT_EQ(command({"GET", key(part)}), "mine");
    command({"DEL", key(part)});
    (void)store_.purge("gate");
    EXPECT_TRUE(std::holds_alternative<Granted>(join("gate"))) << part;
    (void)store_.purge("gate");
  }
}

// In each place in turn, before whoever fails would make the key.
TEST_F(ForeignKeys, AWrongTypeLeavesNothingBehind) {
  struct Step {
    std::string name;
    std::function<void(const GateName&, const Token&)> run;
  };
  Request priority = asks("gate", VisitorId::random());
  priority.line = {.join = true, .order = Order::priority};
  const std::vector<Step> steps = {
      {"join", [&](const GateName& gate, const Token&) { (void)join(gate); }},
      {"join by priority",
       [&](const GateName& gate, const Token&) {
         priority.gate = gate;
         (void)store_.admit(priority);
       }},
      {"look", [&](const GateName& gate, const Token&) { (void)store_.look(gate); }},
      {"release", [&](const GateName&, const Token& ann) { (void)store_.release(ann); }},
      {"revoke", [&](const GateName& gate,
                     const Token& ann) { (void)store_.revoke(gate, ann.visitor, Revoke::now); }},
      {"collect", [&](const GateName&, const Token&) { store_.collect(); }},
      {"purge", [&](const GateName& gate, const Token&) { (void)store_.purge(gate); }}};
  int failures = 0;
  for (const bool is_late : {false, true}) {
    for (const std::string_view part : {":out", ":line", ":free"}) {
      for (const Step& step : steps) {
        command({"FLUSHALL"});
        Request ask = asks("gate", VisitorId::random(), 2);
        const Token ann = std::get<Granted>(store_.admit(ask)).token;
        ask.visitor = VisitorId::random();
        ask.permits->ttl = 5s;
        ASSERT_TRUE(std::holds_alternative<Granted>(store_.admit(ask)));
        if (is_late) clock_.advance(6s);  // The second has to be ended in passing.
        command({"SET", key(part), "mine"});
        const auto state = [&] {
          std::string all = command({"GET", key(part)});
          for (const std::string_view other : redis::Naming::kParts) {
            if (other != part) all += command({"DUMP", key(other)});
          }
          return all;
        };
        const std::string before = state();
        try {
          step.run("gate", ann);
        } catch (const StoreError& error) {
          ++failures;
          EXPECT_EQ(error.kind(), Kind::incompatible);
          EXPECT_EQ(error.outcome(), Result::nothing_happened);
          EXPECT_EQ(state(), before) << step.name << part;
        }
        EXPECT_EQ(command({"GET", key(part)}), "mine") << step.name << part;
        for (const std::string_view other : redis::Naming::kParts) {
          if (other == part) continue;
          EXPECT_NE(command({"PTTL", key(other)}), "-1") << step.name << part << other;
        }
      }
    }
  }
  EXPECT_GE(failures, 30);
}

// Everything that a store can be asked of one gate.
std::vector<std::function<void()>> all_steps(const Store& store, const GateName& gate,
                                             const VisitorId& ann = VisitorId::random()) {
  static const Rate kHourly{.count = 1, .period = 1h};
  const Token token{.store = store.id(), .gate = gate, .visitor = ann, .fence = 1};
  return {[=, &store] { (void)store.admit(asks(gate, ann)); },
          [=, &store] { (void)store.admit_all(std::vector{asks(gate, ann)}); },
          [=, &store] { (void)store.leave(gate, ann); },
          [=, &store] {
            store.refund({.gate = gate, .visitor = ann, .rates = {&kHourly, 1}});
          },
          [=, &store] { (void)store.renew(token, 1s); },
          [=, &store] { (void)store.release(token); },
          [=, &store] { (void)store.disown(token); },
          [=, &store] { (void)store.adopt(token); },
          [=, &store] { (void)store.look(gate); },
          [=, &store] { (void)store.holds(token); },
          [=, &store] { (void)store.counts(std::vector{gate}); },
          [=, &store] { store.set_limit(gate, 1); },
          [=, &store] { store.pause(gate, 1s); },
          [=, &store] { (void)store.resume(gate); },
          [=, &store] { (void)store.revoke(gate, std::nullopt, Revoke::now); },
          [=, &store] { (void)store.purge(gate); },
          [=, &store] { (void)store.watch(gate, ann, [] {}); }};
}

// Gates that another version of airlock has written.
class OtherSchema : public ForeignKeys, public ::testing::WithParamInterface<int> {
 protected:
  OtherSchema() {
    (void)store_.admit(asks("old", VisitorId::random()));
    own_ = command({"HGET", key(":gate", "old"), "m"}).at(0);
    other_ = own_ + GetParam();
    const std::string meta = std::string(1, static_cast<char>(other_)) + " who knows";
    command({"HSET", key(":gate"), "m", meta, redis::pack_visitor(ann_), "y"});
    command({"ZADD", key(":in"), "1", "x"});
    command({"PEXPIRE", key(":gate"), "1000000000"});
  }
  std::string state() {
    return command({"DUMP", key(":gate")}) + command({"DUMP", key(":in")}) +
           command({"PEXPIRETIME", key(":gate")}) +
           command({"EXISTS", key(":out"), key(":line"), key(":free")});
  }

  int own_ = 0;
  int other_ = 0;
  const VisitorId ann_ = VisitorId::random();
};

TEST_P(OtherSchema, IsNotTouchedAndBothAreNamed) {
  const std::string before = state();
  const auto steps = all_steps(store_, "gate", ann_);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto failure = failure_of(steps[i]);
    ASSERT_TRUE(failure) << i;
    EXPECT_EQ(failure->kind(), Kind::incompatible) << i;
    EXPECT_EQ(failure->outcome(), Result::nothing_happened) << i;
    EXPECT_THAT(failure->what(), HasSubstr("schema " + std::to_string(other_))) << i;
    EXPECT_THAT(failure->what(), HasSubstr("has " + std::to_string(own_))) << i;
    EXPECT_THAT(failure->what(), HasSubstr("docs/upgrade.md")) << i;
    EXPECT_EQ(state(), before) << i;
  }
}

TEST_P(OtherSchema, HindersNobodyElse) {
  const std::string before = state();
  const auto neighbour = open(unused_prefix());
  EXPECT_EQ(store_.list(), (std::vector<std::string>{"gate", "old"}));
  EXPECT_NO_THROW(store_.collect());
  EXPECT_EQ(state(), before);
  EXPECT_EQ(store_.look("old")->counts.holders, 1U);
  EXPECT_TRUE(std::holds_alternative<Queued>(join("old")));
  const Answer idle = store_.admit(asks("idle", ann_));
  EXPECT_TRUE(store_.release(std::get<Granted>(idle).token));
  clock_.advance(11min);
  EXPECT_EQ(command({"EXISTS", key(":gate", "idle")}), "1");
  store_.collect();
  EXPECT_EQ(command({"EXISTS", key(":gate", "idle")}), "0");
  EXPECT_EQ(store_.list(), std::vector<std::string>{"gate"});
  EXPECT_EQ(state(), before);
  for (const auto& step : all_steps(neighbour, "gate")) EXPECT_NO_THROW(step());
}

INSTANTIATE_TEST_SUITE_P(Versions, OtherSchema, ::testing::Values(-1, 1),
                         [](const auto& version) { return version.param < 0 ? "older" : "newer"; });

// --- what it is not ready for ---

// One bad key used to fail most calls of the object at other keys, or let them in unguarded.
TEST(RedisRefusals, AnAnswerAtOneKeyIsNoFailureOfAnother) {
  const std::string prefix = unused_prefix();
  const auto store = redis::make_store(
      {.address = RedisServer::shared().address(), .prefix = prefix, .timeout = 5s});
  const KeyedBulkhead tenants(store, "tenants", {.limit = 1, .outage = Outage::open});
  RedisServer::shared().command(
      {"SET", redis::Naming(prefix).key(tenants.gate("bad"), ":gate"), "mine"});
  for (int i = 0; i < 50; ++i) {
    EXPECT_THROW((void)tenants.acquire("bad"), SealAcquiringError);
    Lease lease = tenants.acquire("good");
    EXPECT_TRUE(lease.guarded()) << i;
    lease.release();
  }
}

TEST(RedisRefusals, AReplicaIsUnavailable) {
  RedisServer own;
  const auto store = open_store(own.uri());
  (void)store.admit(asks("gate", VisitorId::random()));
  own.command({"REPLICAOF", "127.0.0.1", "1"});
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::unavailable);
  EXPECT_EQ(failure->outcome(), Result::nothing_happened);
  EXPECT_THAT(failure->what(), HasSubstr("replica"));
  own.command({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(store.look("gate").has_value());
}

TEST(RedisRefusals, WhoHoldsIsUnaffectedWhenMemoryIsFull) {
  RedisServer own;
  const auto store = open_store(own.uri());
  const Token held = std::get<Granted>(store.admit(asks("gate", VisitorId::random(), 9))).token;
  const Token other = std::get<Granted>(store.admit(asks("gate", VisitorId::random(), 9))).token;
  own.command({"CONFIG", "SET", "maxmemory", "1"});
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random(), 9)); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::no_room);
  EXPECT_EQ(failure->outcome(), Result::nothing_happened);
  EXPECT_THAT(failure->what(), HasSubstr("maxmemory"));
  EXPECT_EQ(store.renew(held, 1min), Renewal::renewed);
  EXPECT_EQ(store.look("gate")->counts.holders, 2U);
  EXPECT_NO_THROW(store.collect());
  EXPECT_TRUE(store.release(held));
  EXPECT_TRUE(store.release(other));
}

TEST(RedisRefusals, AServerThatMayEvictIsRefused) {
  RedisServer own;
  own.command({"CONFIG", "SET", "maxmemory", "100mb"});
  for (const char* policy : {"allkeys-lru", "volatile-lru", "allkeys-random", "volatile-random",
                             "volatile-ttl", "allkeys-lfu", "volatile-lfu"}) {
    own.command({"CONFIG", "SET", "maxmemory-policy", policy});
    const auto failure = failure_of([&] { (void)open_store(own.uri()).look("gate"); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->kind(), Kind::incompatible);
    EXPECT_THAT(failure->what(), HasSubstr(policy));
  }
  EXPECT_FALSE(open_store(own.uri() + "?allow_eviction=1").look("gate").has_value());
  own.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_FALSE(open_store(own.uri()).look("gate").has_value());
}

TEST(RedisRefusals, ABusyServerIsBusy) {
  RedisServer own({"--busy-reply-threshold", "10"});
  const auto store = open_store(own.uri());
  (void)store.admit(asks("gate", VisitorId::random()));
  redis::Connection admin(own.address(), nullptr, "admin", redis::Deadline(5s));
  std::thread spinner([&] {
    try {
      own.command({"EVAL", "while true do end", "0"});
    } catch (const StoreError&) {
    }
  });
  std::optional<StoreError> failure;
  const auto end = std::chrono::steady_clock::now() + 3s;
  while (!failure && std::chrono::steady_clock::now() < end) {
    try {
      (void)store.look("gate");
    } catch (const StoreError& error) {
      failure = error;
    }
  }
  redis::Commands kill;
  kill.add_all({"SCRIPT", "KILL"});
  (void)admin.ask(kill, redis::Deadline(5s));
  spinner.join();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::busy);
  EXPECT_EQ(failure->outcome(), Result::nothing_happened);
  EXPECT_THAT(failure->what(), HasSubstr("script"));
}

TEST(RedisRefusals, AServerThatLoadsItsDataIsUnavailableUntilItHas) {
  RedisServer own({"--enable-debug-command", "yes"});
  const auto store = open_store(own.uri());
  const Token held = std::get<Granted>(store.admit(asks("gate", VisitorId::random()))).token;
  for (int i = 0; i < 20; ++i) own.command({"SET", std::to_string(i), std::string(1100, 'x')});
  own.command({"CONFIG", "SET", "rdbcompression", "no"});
  own.command({"CONFIG", "SET", "loading-process-events-interval-bytes", "1024"});
  own.command({"CONFIG", "SET", "key-load-delay", "20000"});
  std::thread loader([&] { own.command({"DEBUG", "RELOAD"}); });
  std::optional<StoreError> failure;
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (!failure && std::chrono::steady_clock::now() < end) {
    try {
      (void)store.look("gate");
    } catch (const StoreError& error) {
      failure = error;
    }
  }
  loader.join();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::unavailable);
  EXPECT_EQ(failure->outcome(), Result::nothing_happened);
  EXPECT_THAT(failure->what(), HasSubstr("loading"));
  eventually([&] { return store.release(held); });
}

TEST(RedisRefusals, AServerThatCannotSaveNeedsAnOperator) {
  RedisServer own({"--save", "3600 1000000"});
  const auto store = open_store(own.uri());
  const Token held = std::get<Granted>(store.admit(asks("gate", VisitorId::random(), 2))).token;
  const std::string in_its_way = own.folder() + "/dump.rdb";
  std::filesystem::create_directory(in_its_way);
  own.command({"BGSAVE"});
  const auto saved = [&](const std::string& status) {
    const std::string info = own.command({"INFO", "persistence"});
    return info.find("rdb_bgsave_in_progress:0") != std::string::npos &&
           info.find("rdb_last_bgsave_status:" + status) != std::string::npos;
  };
  eventually([&] { return saved("err"); });
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random(), 2)); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::incompatible);
  EXPECT_EQ(failure->outcome(), Result::nothing_happened);
  EXPECT_THAT(failure->what(), HasSubstr("cannot save"));
  std::filesystem::remove(in_its_way);
  own.command({"BGSAVE"});
  eventually([&] { return saved("ok"); });
  EXPECT_EQ(store.look("gate")->counts.holders, 1U);
  EXPECT_TRUE(store.release(held));
}

TEST(RedisRefusals, AServerThatWantsAPasswordSaysSo) {
  RedisServer own;
  own.command({"CONFIG", "SET", "requirepass", "s3cret"});
  const auto failure = failure_of([&] { (void)open_store(own.uri()).look("gate"); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::incompatible);
  EXPECT_EQ(failure->outcome(), Result::nothing_happened);
  EXPECT_THAT(failure->what(), HasSubstr("password"));
  const std::string with_password = "redis+unix://:s3cret@" + own.socket();
  EXPECT_FALSE(open_store(with_password).look("gate").has_value());
}

TEST(RedisRefusals, APasswordIsNeededAndNeverShown) {
  RedisServer own;
  own.command({"ACL", "SETUSER", "ann", "on", ">s3cret", "~*", "&*", "+@all"});
  own.command({"ACL", "SETUSER", "default", "nopass", "-@all"});
  const auto open = [&](const std::string& user) {
    return open_store("redis+unix://" + user + own.socket());
  };
  EXPECT_FALSE(open("ann:s3cret@").look("gate").has_value());
  const auto failure = failure_of([&] { (void)open("ann:s3cret_wrong@").look("gate"); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::incompatible);
  EXPECT_THAT(failure->what(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(failure->what(), Not(HasSubstr("ann")));
  const auto denied = failure_of([&] { (void)open("").look("gate"); });
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->kind(), Kind::incompatible);
}

TEST(RedisRefusals, ADeniedRightIsNamedAsSuch) {
  RedisServer own;
  own.command({"ACL", "SETUSER", "ann", "on", ">ann", "~*", "&*", "+@all", "-hset"});
  const auto store = open_store("redis+unix://ann:ann@" + own.socket());
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::incompatible);
  EXPECT_EQ(failure->outcome(), Result::nothing_happened);
  EXPECT_THAT(failure->what(), HasSubstr("ACL"));
}

// The step is made before the server refuses to say who has it.
TEST(RedisRefusals, WithoutTheRightToWaitForReplicasNobodyKnows) {
  RedisServer own;
  own.command({"ACL", "SETUSER", "ann", "on", ">ann", "~*", "&*", "+@all", "-wait"});
  const auto store = open_store("redis+unix://ann:ann@" + own.socket() + "?replicas_ack=1");
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::incompatible);
  EXPECT_EQ(failure->outcome(), Result::unknown);
  EXPECT_THAT(failure->what(), HasSubstr("ACL"));
}

// The suites of the contract run with these.
TEST(RedisRefusals, TheLeastRightsAreDocumented) {
  std::ifstream file(testing::source_dir() + "/docs/stores.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr(std::string(RedisServer::kLeastRights)));
}

}  // namespace
}  // namespace airlock
