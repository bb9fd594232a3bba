#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/support/failover_trial.hpp"
#include "store/redis/support/sentinels.hpp"
#include "store/redis/support/with_sentinels.hpp"
#include "store/support/failures.hpp"
#include "store/support/temp_dir.hpp"
#include "store/support/waiters.hpp"

// A store that sentinels lead to.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::failure_of;
using ::testing::HasSubstr;
using testing::Loss;
using ::testing::Not;
using testing::RedisSentinels;
using testing::since;
using testing::TimePoint;
using Kind = StoreError::Kind;

class SentinelStore : public testing::WithSentinels {};

TEST_F(SentinelStore, LetsInAndOut) {
  const auto store = opened();
  const VisitorId ann = VisitorId::random();
  const Answer answer = store.admit(asks("gate", ann));
  ASSERT_TRUE(std::holds_alternative<Granted>(answer));
  EXPECT_EQ(std::get<Refused>(store.admit(asks("gate", VisitorId::random()))).reason, Reason::full);
  EXPECT_TRUE(store.release(std::get<Granted>(answer).token));
  EXPECT_EQ(store.look("gate")->counts.holders, 0U);
  EXPECT_THAT(store.list(), ::testing::ElementsAre("gate"));
}

TEST_F(SentinelStore, IsTheSameAsThatOfThePrimary) {
  const auto store = opened();
  const redis::Address primary = sentinels().server(sentinels().primary()).address();
  const auto direct = open_store("redis://" + primary.text() + "?prefix=" + prefix());
  const Token token = std::get<Granted>(store.admit(asks("gate", VisitorId::random()))).token;
  EXPECT_TRUE(direct.release(token));
}

TEST_F(SentinelStore, TellsWhoWaitsThatItIsItsTurn) {
  testing::Waiters(opened(), {"a", "b", "c", "d", "e"}).let_in();
}

TEST_F(SentinelStore, SurvivesThatThePrimaryIsKilled) {
  (void)testing::try_failover(sentinels(), Loss::killed);
}

TEST_F(SentinelStore, SurvivesThatThePrimaryIsStopped) {
  (void)testing::try_failover(sentinels(), Loss::stopped);
}

TEST_F(SentinelStore, KeepsLeasesThroughAFailover) {
  const auto store = opened();
  const Airlock airlock(store, "gate", {.limit = 1, .ttl = 6s});
  Outcome<Lease> lease = airlock.enter();
  ASSERT_TRUE(lease);
  std::this_thread::sleep_for(50ms);
  (void)sentinels().fail_over(Loss::killed);
  std::this_thread::sleep_for(6s);
  EXPECT_TRUE(lease->valid());
  EXPECT_FALSE(lease->lost().stop_requested());
  lease->release();
}

TEST_F(SentinelStore, ServesEveryCallAtTheNewPrimaryAtOnce) {
  // Each has connections of its own to the old one.
  std::vector<Store> stores;
  std::vector<Token> tokens;
  for (int i = 0; i < 5; ++i) {
    stores.push_back(opened("&timeout=3s"));
    const Answer answer = stores.back().admit(asks("gate", VisitorId::random(), 9));
    tokens.push_back(std::get<Granted>(answer).token);
  }
  std::this_thread::sleep_for(50ms);
  (void)sentinels().fail_over(Loss::killed);
  EXPECT_NO_THROW(EXPECT_EQ(stores[0].renew(tokens[0], 30s), Renewal::renewed));
  EXPECT_NO_THROW(EXPECT_TRUE(stores[1].release(tokens[1])));
  EXPECT_NO_THROW(EXPECT_THAT(stores[2].list(), ::testing::ElementsAre("gate")));
  EXPECT_NO_THROW(EXPECT_TRUE(stores[3].look("gate")));
  const std::vector<GateName> gates = {"gate"};
  EXPECT_NO_THROW(EXPECT_EQ(stores[4].counts(gates).front().limit, 9U));
}

// It still believes to be the primary, and connections to it are still open.
TEST_F(SentinelStore, DoesNotGoBackToAPrimaryThatWasReplaced) {
  const auto store = opened();
  testing::Waiters waiters(store, {"a", "b", "c", "d", "e"});
  (void)store.admit(asks("gate", VisitorId::random(), 100));
  const RedisSentinels::Failover failover = sentinels().fail_over(Loss::stopped);
  std::this_thread::sleep_until(failover.began + failover.outage + 1s);
  sentinels().server(failover.before).go_on();
  for (int i = 0; i < 20; ++i) (void)store.admit(asks("gate", VisitorId::random(), 100));
  const auto direct = open_store("redis://" + sentinels().server(failover.after).address().text() +
                                 "?prefix=" + prefix());
  EXPECT_EQ(direct.look("gate")->holders.size(), 21U);
  waiters.let_in();
}

TEST_F(SentinelStore, OpensThoughSentinelsDoNotAnswer) {
  for (const std::size_t stopped : {0U, 1U}) {
    sentinels().sentinel(stopped).stop();
    for (int i = 0; i < 3; ++i) {
      const auto store = opened("&timeout=4s");  // It would be asked for half of it.
      const testing::Stopwatch watch;
      EXPECT_TRUE(
          std::holds_alternative<Granted>(store.admit(asks("gate", VisitorId::random(), 100))));
      EXPECT_LT(watch.own(), 1500ms) << stopped + 1 << " stopped";
    }
  }
}

TEST_F(SentinelStore, FailsOverThoughASentinelDoesNotAnswer) {
  sentinels().sentinel(0).stop();
  testing::Asker asker(opened(), "gate");
  std::this_thread::sleep_for(100ms);
  const RedisSentinels::Failover failover = sentinels().fail_over(Loss::stopped);
  const TimePoint promoted = failover.began + failover.outage;
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(promoted); }, 5s))
      << asker.last_failure();
  asker.stop();
  EXPECT_LE(asker.longest_outage(), failover.outage + 1s) << asker.story(promoted);
}

TEST_F(SentinelStore, SaysByTheDeadlineThatThePrimaryIsNotKnown) {
  std::string uri = sentinels().uri("timeout=700ms");
  uri.replace(uri.find("/main"), 5, "/other");
  const auto store = open_store(uri);
  const testing::Stopwatch watch;
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  EXPECT_LT(watch.own(), 900ms);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome(), StoreError::Outcome::nothing_happened);
  EXPECT_TRUE(failure->kind() == Kind::unavailable || failure->kind() == Kind::incompatible)
      << failure->what();
  EXPECT_THAT(failure->what(), HasSubstr("other"));
}

TEST_F(SentinelStore, SaysByTheDeadlineThatNoSentinelAnswers) {
  for (std::size_t i = 0; i < 3; ++i) sentinels().sentinel(i).stop();
  const auto store = opened("&timeout=700ms");
  const testing::Stopwatch watch;
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  EXPECT_GE(since(watch.start()), 400ms);
  EXPECT_LT(watch.own(), 900ms);
  ASSERT_TRUE(failure);
  EXPECT_TRUE(failure->kind() == Kind::unavailable || failure->kind() == Kind::busy)
      << failure->what();
  EXPECT_EQ(failure->outcome(), StoreError::Outcome::nothing_happened);
}

TEST_F(SentinelStore, SaysThatNoSentinelIsThere) {
  const testing::FreePort first;
  const testing::FreePort second;
  const auto store = open_store("redis+sentinel://127.0.0.1:" + first.text() +
                                ",127.0.0.1:" + second.text() + "/main?timeout=700ms");
  const testing::Stopwatch watch;
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  EXPECT_LT(watch.own(), 900ms);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::unavailable) << failure->what();
  EXPECT_EQ(failure->outcome(), StoreError::Outcome::nothing_happened);
}

// A sentinel that has not heard of the last failover names a server that is a replica now.
// The servers change their roles without the sentinels' help; one sentinel alone cannot follow.
TEST_F(SentinelStore, DoesNotBelieveASentinelThatNamesAReplica) {
  for (const std::size_t other : {0U, 1U}) sentinels().sentinel(other).stop();
  testing::RedisProcess& named = sentinels().server(sentinels().primary());
  testing::RedisProcess& primary = sentinels().server(sentinels().replicas().front());
  const auto follow = [](testing::RedisProcess& server, const redis::Address& whom) {
    ASSERT_EQ(server.command({"REPLICAOF", whom.host, std::to_string(whom.port)}), "OK");
  };
  ASSERT_EQ(primary.command({"REPLICAOF", "NO", "ONE"}), "OK");
  follow(named, primary.address());

  const auto store = opened("&timeout=500ms");
  const testing::Stopwatch watch;
  const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
  EXPECT_LT(watch.own(), 700ms);
  ASSERT_TRUE(failure);
  EXPECT_TRUE(failure->kind() == Kind::unavailable || failure->kind() == Kind::busy)
      << failure->what();
  EXPECT_EQ(failure->outcome(), StoreError::Outcome::nothing_happened) << failure->what();

  ASSERT_EQ(named.command({"REPLICAOF", "NO", "ONE"}), "OK");
  follow(primary, named.address());
  testing::Asker asker(store, "gate");
  // A server that failed is tried again within a second, and a call may take half a second.
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(watch.start()); }, 3s))
      << asker.last_failure();
}

class SentinelSecrets : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    own_sentinels = std::make_unique<RedisSentinels>(
        testing::SentinelsOptions{.password = "inner", .sentinel_password = "outer"});
  }
  static void TearDownTestSuite() { own_sentinels.reset(); }

  static RedisSentinels& sentinels() { return *own_sentinels; }
  static bool lets_in(const std::string& options) {
    const auto store = open_store(sentinels().uri(options));
    const Answer answer = store.admit(asks("gate", VisitorId::random(), 100));
    return std::holds_alternative<Granted>(answer);
  }

 private:
  static inline std::unique_ptr<RedisSentinels> own_sentinels;
};

TEST_F(SentinelSecrets, ComeFromTheEnvironment) {
  ASSERT_EQ(setenv("AIRLOCK_TEST_SECRET", "outer", 1), 0);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_TRUE(lets_in("sentinel_password_env=AIRLOCK_TEST_SECRET"));
}

TEST_F(SentinelSecrets, ComeFromAFile) {
  const TempDir dir;
  std::ofstream(dir.path() + "/secret") << "outer\n";
  EXPECT_TRUE(lets_in("sentinel_password_file=" + dir.path() + "/secret"));
}

TEST_F(SentinelSecrets, MayBeOfAUser) {
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(sentinels().sentinel(i).command(
                  {"ACL", "SETUSER", "watcher", "on", ">watching", "allchannels", "+@all"}),
              "OK");
  }
  const TempDir dir;
  std::ofstream(dir.path() + "/secret") << "watching\n";
  EXPECT_TRUE(lets_in("sentinel_user=watcher&sentinel_password_file=" + dir.path() + "/secret"));
}

TEST_F(SentinelSecrets, AreNeededAndNeverTold) {
  const TempDir dir;
  std::ofstream(dir.path() + "/secret") << "guessed\n";
  for (const std::string& options :
       {std::string(), "sentinel_password_file=" + dir.path() + "/secret"}) {
    const auto failure = failure_of([&] { (void)lets_in(options); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->kind(), Kind::incompatible) << failure->what();
    EXPECT_THAT(failure->what(), Not(HasSubstr("guessed")));
    EXPECT_THAT(failure->what(), Not(HasSubstr("inner")));
  }
}

TEST_F(SentinelSecrets, AreUsedAgainAfterAFailover) {
  const TempDir dir;
  std::ofstream(dir.path() + "/secret") << "outer\n";
  const auto store =
      open_store(sentinels().uri("sentinel_password_file=" + dir.path() + "/secret"));
  testing::Asker asker(store, "gate");
  const RedisSentinels::Failover failover = sentinels().fail_over(Loss::killed);
  const TimePoint promoted = failover.began + failover.outage;
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(promoted); }, 5s))
      << asker.last_failure();
  asker.stop();
  EXPECT_LE(asker.longest_outage(), failover.outage + 1s) << asker.story(promoted);
}

}  // namespace
}  // namespace airlock
