#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/store.hpp"
#include "store/backend.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/cluster.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/failures.hpp"

// Which data the tokens of a Redis store belong to.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::RedisCluster;
using testing::RedisServer;

class RedisIdentity : public ::testing::Test {
 protected:
  [[nodiscard]] Store open() const { return open_store(uri()); }
  [[nodiscard]] std::string uri(const std::string& options = "") const {
    return server_.uri() + "?timeout=5s" + options;
  }
  static Token enters(const Store& store, const GateName& gate = "gate", std::uint32_t limit = 9) {
    return std::get<Granted>(store.admit(asks(gate, VisitorId::named("ann"), limit))).token;
  }
  static std::uint64_t scripts_run(RedisServer& server) {
    const std::string stats = server.command({"INFO", "commandstats"});
    const std::string start = "cmdstat_evalsha:calls=";
    const std::size_t at = stats.find(start);
    return at == std::string::npos ? 0 : std::stoull(stats.substr(at + start.size()));
  }

  RedisServer server_;
  RedisServer other_server_;
};

TEST_F(RedisIdentity, TokensOfAnotherServerAreRefused) {
  const auto store = open();
  const auto other = open_store(other_server_.uri());
  const Token ours = enters(store);
  const Token theirs = enters(other);
  EXPECT_NE(store.id(), other.id());
  EXPECT_THROW((void)store.release(theirs), InvalidArgument);
  EXPECT_THROW((void)store.renew(theirs, 1s), InvalidArgument);
  EXPECT_THROW((void)store.adopt(theirs), InvalidArgument);
  EXPECT_THROW((void)store.disown(theirs), InvalidArgument);
  EXPECT_THROW((void)store.holds(theirs), InvalidArgument);
  std::vector<internal::ReleaseItem> items = {{.token = theirs}, {.token = ours}};
  internal::backend_of(store)->release_all(items);
  EXPECT_TRUE(items[0].is_over);
  EXPECT_FALSE(store.holds(ours));
  EXPECT_TRUE(other.holds(theirs));
}

TEST_F(RedisIdentity, PrefixesAndDatabasesHaveTheirOwn) {
  EXPECT_NE(open().id(), open_store(uri("&prefix=b")).id());
  EXPECT_NE(open().id(), open_store(uri("&db=1")).id());
}

TEST_F(RedisIdentity, EverybodyAgreesWhoeverComesFirst) {
  std::vector<StoreId> ids(8);
  std::vector<std::thread> threads;
  for (StoreId& id : ids) threads.emplace_back([&] { id = open().id(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(ids, ::testing::Each(open().id()));
  EXPECT_EQ(server_.command({"PTTL", "airlock:id:{0}"}), "-1") << "it ends with the data";
}

TEST_F(RedisIdentity, CostsOneRoundTripForAConnectionAndNoMore) {
  const auto store = open();
  (void)store.release(enters(store));
  const std::uint64_t before = scripts_run(server_);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(store.release(enters(store)));
  EXPECT_EQ(scripts_run(server_) - before, 100U);
}

TEST_F(RedisIdentity, ATokenIsTakenUpByAnotherProcess) {
  const Token token = Token::parse(enters(open()).text());
  const auto later = open();
  EXPECT_TRUE(later.disown(token));
  EXPECT_TRUE(later.adopt(token));
  EXPECT_TRUE(later.release(token));
}

TEST_F(RedisIdentity, AfterAFlushOldTokensAreOfAnotherStore) {
  const Token old = enters(open());
  server_.command({"FLUSHALL"});
  const auto store = open();
  const Token token = enters(store);
  EXPECT_NE(store.id(), old.store);
  EXPECT_THROW((void)store.release(old), InvalidArgument);
  EXPECT_THROW((void)store.holds(old), InvalidArgument);
  EXPECT_THROW(LockSeal(store, "gate").release(old), SealReleasingError);
  EXPECT_TRUE(store.holds(token));
}

// Its own leases are gone, which is an answer: a keeper renews many in one call.
TEST_F(RedisIdentity, AProcessThatLivesThroughAFlushFollowsTheNewData) {
  const auto store = open();
  const Token old = enters(store);
  server_.command({"FLUSHALL"});
  const auto other = open();
  const Token theirs = enters(other, "theirs");
  EXPECT_FALSE(store.release(old));
  EXPECT_EQ(store.renew(old, 1s), Renewal::gone);
  EXPECT_EQ(store.id(), other.id());
  EXPECT_TRUE(other.release(enters(store)));
  EXPECT_TRUE(store.release(theirs));
}

TEST_F(RedisIdentity, ATokenOfNewerDataIsNotTakenForAnotherServers) {
  const auto store = open();
  (void)enters(store);
  server_.command({"FLUSHALL"});
  EXPECT_TRUE(store.release(enters(open()))) << "the first that it hears of the flush";
}

TEST_F(RedisIdentity, AServerThatComesBackEmptyHasOtherData) {
  const auto store = open();
  const Token old = enters(store);
  server_.kill();
  server_.start();
  const auto other = open();
  EXPECT_NE(other.id(), old.store);
  (void)store.look("gate");  // Connects again.
  EXPECT_EQ(store.id(), other.id());
  EXPECT_FALSE(store.release(old));
}

// Somebody has deleted the key: those inside continue, tokens elsewhere end with their ttl.
TEST_F(RedisIdentity, WhoHoldsWhenTheKeyIsLostContinues) {
  const auto store = open();
  const Token old = enters(store);
  server_.command({"DEL", "airlock:id:{0}"});
  const auto other = open();
  EXPECT_NE(other.id(), old.store);
  EXPECT_THROW((void)other.release(old), InvalidArgument);
  EXPECT_EQ(store.renew(old, 30s), Renewal::renewed);
  EXPECT_TRUE(store.release(old));
}

TEST_F(RedisIdentity, WhatIsNotANumberIsNamedAndLeft) {
  server_.command({"HSET", "airlock:id:{0}", "n", "mine"});
  const auto failure = testing::failure_of([&] { (void)open().id(); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), StoreError::Kind::incompatible);
  EXPECT_EQ(failure->outcome(), StoreError::Outcome::nothing_happened);
  EXPECT_EQ(server_.command({"HGET", "airlock:id:{0}", "n"}), "mine");
}

TEST(RedisClusterIdentity, IsKnownWhileTheServerThatHasItIsDown) {
  RedisCluster cluster({"--cluster-require-full-coverage", "no"});
  const std::string uri = cluster.uri("timeout=2s");
  const StoreId id = open_store(uri).id();
  EXPECT_EQ(open_store(uri).id(), id);
  const RedisCluster::Slot slot = cluster.slot_of("0");
  const std::size_t owner = cluster.owner_of(slot);
  const std::vector<std::size_t> primaries = cluster.primaries();
  const std::size_t elsewhere = primaries[0] == owner ? primaries[1] : primaries[0];
  const std::string gate = cluster.tag_at(elsewhere);
  cluster.node(owner).stop();
  const auto store = open_store(uri);
  const Token token = std::get<Granted>(store.admit(asks(gate, VisitorId::random()))).token;
  EXPECT_EQ(token.store, id);
  EXPECT_TRUE(store.release(token));
  cluster.wait_for_failover(slot, owner);
  EXPECT_EQ(open_store(uri).id(), id);
}

}  // namespace
}  // namespace airlock
