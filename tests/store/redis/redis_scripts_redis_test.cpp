#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "airlock/store.hpp"
#include "store/redis/call.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/wire.hpp"
#include "store/support/any_clock.hpp"
#include "store/support/failures.hpp"

// What the scripts do where Redis is not like memory: much that ends at once, clocks that are set back,
// keys that must last, processes that are gone.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RedisServer;
using testing::unused_prefix;

class RedisScripts : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kCrowd = 40;  // More than one call ends.

  static std::string command(const std::vector<std::string>& words) {
    return RedisServer::shared().command(words);
  }
  Store open() { return open(RedisServer::shared().address()); }
  Store open(const redis::Address& address) {
    return redis::make_store({.address = address,
                              .prefix = prefix_,
                              .timeout = 5s,
                              .scripts = &stepped::scripts(),
                              .stepped = &clock_});
  }
  [[nodiscard]] std::string key(std::string_view part, const GateName& gate = "gate") const {
    return redis::Naming(prefix_).key(gate, part);
  }
  // Since the server started.
  static long calls_of(const std::string& name) {
    const std::string field = "cmdstat_" + name + ":calls=";
    const std::string stats = command({"INFO", "commandstats"});
    const std::size_t at = stats.find(field);
    return at == std::string::npos ? 0 : std::stol(stats.substr(at + field.size()));
  }

  Token enters(const GateName& gate, std::uint32_t limit = 1, Duration ttl = 30s,
               std::uint32_t weight = 1) {
    Request ask = asks(gate, VisitorId::random(), limit);
    ask.permits->ttl = ttl;
    ask.permits->weight = weight;
    return std::get<Granted>(store_.admit(ask)).token;
  }
  static Request joining(const GateName& gate, std::uint32_t limit = 1) {
    Request ask = asks(gate, VisitorId::random(), limit);
    ask.line.join = true;
    return ask;
  }
  // The one slot of its gate, after it has waited so long; it is yet to claim it.
  Request handed_over(const Request& ask, Duration waited) {
    const Token holder = enters(ask.gate);
    EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(ask)));
    clock_.advance(waited);
    EXPECT_TRUE(store_.release(holder));
    return ask;
  }
  // A crowd whose leases end one after the other, the first given out first; now they all have.
  std::vector<Token> crowd_that_ended(const GateName& gate) {
    std::vector<Token> tokens;
    for (std::uint32_t i = 0; i < kCrowd; ++i) {
      tokens.push_back(enters(gate, kCrowd + 1, 30s + i * 1ms));
    }
    clock_.advance(1min);
    return tokens;
  }
  [[nodiscard]] std::vector<VisitorId> holders(const GateName& gate = "gate") {
    std::vector<VisitorId> visitors;
    const auto view = store_.look(gate);
    for (const HolderView& holder : view->holders) visitors.push_back(holder.visitor);
    return visitors;
  }

  // It waits with a store of its own, watched, and that store is gone.
  void waits_and_goes(const Request& ask) {
    {
      const auto ending = open();
      ASSERT_TRUE(std::holds_alternative<Queued>(ending.admit(ask)));
      ASSERT_TRUE(ending.watch(ask.gate, ask.visitor, [] {}));
    }
    await_silence();
  }
  void await_silence() {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!command({"PUBSUB", "CHANNELS", prefix_ + ":*"}).empty()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(1ms);
    }
  }

  const std::string prefix_ = unused_prefix();
  testing::AnyClock clock_;
  const Store store_ = open();
};

// --- more than one call can end ---

TEST_F(RedisScripts, AGroupIsDecidedWhenAllThatRanOutHasEnded) {
  (void)crowd_that_ended("g/one");
  const VisitorId ann = VisitorId::random();
  const std::vector<Request> group = {asks("g/one", ann), asks("g/two", ann)};
  EXPECT_EQ(store_.admit_all(group).granted.size(), 2U);
  EXPECT_THAT(holders("g/one"), ElementsAre(ann));
}

TEST_F(RedisScripts, NoCallEndsMoreThanEight) {
  for (int i = 0; i < 9; ++i) (void)enters("gate", 9);
  clock_.advance(1min);
  const long before = calls_of("evalsha");
  EXPECT_EQ(store_.look("gate")->counts.holders, 0U);
  EXPECT_EQ(calls_of("evalsha") - before, 2);
}

TEST_F(RedisScripts, UnclaimedHandOversGoBackInTheOrderInWhichTheyEnd) {
  const Token ann = enters("gate", 2);
  const Token bob = enters("gate", 2);
  Request first = joining("gate", 2);
  first.line.patience = 1min;
  first.line.claim_window = 5s;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(first)));
  EXPECT_TRUE(store_.release(ann));
  Request second = joining("gate", 2);
  second.line.patience = 1min;
  second.line.claim_window = 10s;
  second.line.order = Order::priority;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(second)));
  EXPECT_TRUE(store_.release(bob));
  clock_.advance(20s);
  EXPECT_EQ(store_.look("gate")->order, Order::fifo);  // Of the one who was back first.
}

TEST_F(RedisScripts, ALeaseThatRanOutIsNotReleasedThoughItHasNotBeenEndedYet) {
  const std::vector<Token> tokens = crowd_that_ended("gate");
  EXPECT_FALSE(store_.release(tokens.back()));
  EXPECT_EQ(store_.look("gate")->counters.expired, kCrowd);
}

TEST_F(RedisScripts, ALeaseThatRanOutIsNotRenewedThoughItHasNotBeenEndedYet) {
  const std::vector<Token> tokens = crowd_that_ended("gate");
  EXPECT_EQ(store_.renew(tokens.back(), 1min), Renewal::gone);
}

TEST_F(RedisScripts, RevokingEverybodyFindsOnlyThoseWhoAreStillInside) {
  const Token ann = enters("gate", kCrowd + 1, 1h);
  (void)crowd_that_ended("gate");
  EXPECT_EQ(store_.revoke("gate", std::nullopt, Revoke::now), 1U);
  EXPECT_FALSE(store_.release(ann));
  EXPECT_EQ(store_.look("gate")->counters.expired, kCrowd);
}

// It used to end in the middle, and what was in use stayed in use.
TEST_F(RedisScripts, RevokingThousandsGoesInPortionsAndFindsThemAll) {
  constexpr std::uint32_t kThousands = 9'001;
  std::vector<Token> tokens;
  for (std::uint32_t i = 0; i < kThousands; ++i) tokens.push_back(enters("gate", kThousands));
  const long before = calls_of("evalsha");
  EXPECT_EQ(store_.revoke("gate", std::nullopt, Revoke::graceful), kThousands);
  EXPECT_GE(calls_of("evalsha") - before, kThousands / 64);
  EXPECT_EQ(store_.renew(tokens.back(), 1min), Renewal::revoked);
  EXPECT_TRUE(store_.release(tokens.front()));
  const Token late = enters("gate", kThousands);
  EXPECT_EQ(store_.revoke("gate", std::nullopt, Revoke::now), kThousands);
  EXPECT_FALSE(store_.release(late));
  const auto view = store_.look("gate");
  EXPECT_EQ(view->counts.in_use, 0U);
  EXPECT_EQ(view->counts.holders, 0U);
  EXPECT_EQ(view->counters.revoked, kThousands + 1);
}

TEST_F(RedisScripts, RevokingEverybodySparesThoseWhoAreLetInForThem) {
  for (std::uint32_t i = 0; i < kCrowd; ++i) (void)enters("gate", kCrowd);
  std::vector<VisitorId> next;
  for (std::uint32_t i = 0; i < kCrowd; ++i) {
    const Request ask = joining("gate", kCrowd);
    next.push_back(ask.visitor);
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(ask)));
  }
  EXPECT_EQ(store_.revoke("gate", std::nullopt, Revoke::now), kCrowd);
  EXPECT_THAT(holders(), ::testing::UnorderedElementsAreArray(next));
}

TEST_F(RedisScripts, PurgingThousandsGoesInPortions) {
  constexpr std::uint32_t kHundreds = 500;
  for (std::uint32_t i = 0; i < kHundreds; ++i) (void)enters("gate", kHundreds);
  for (std::uint32_t i = 0; i < kHundreds; ++i) (void)store_.admit(joining("gate", kHundreds));
  store_.pause("gate", 1h);
  store_.set_limit("gate", 3);
  const long before = calls_of("evalsha");
  EXPECT_TRUE(store_.purge("gate"));
  EXPECT_GE(calls_of("evalsha") - before, 2 * kHundreds / 64);
  const auto view = store_.look("gate");
  EXPECT_EQ(view->counts.in_use + view->counts.holders + view->counts.waiting, 0U);
  EXPECT_THAT(view->pauses, IsEmpty());
  EXPECT_FALSE(view->override_limit);
  EXPECT_EQ(command({"KEYS", key("*")}), key(":gate") + "\n");
  EXPECT_GT(std::stol(command({"PTTL", key(":gate")})), 0);
}

// --- clocks ---

TEST_F(RedisScripts, ALeaseIsReleasedWhenTheClockWasSetBack) {
  const Token ann = enters("gate", 2);
  (void)enters("gate", 2);
  clock_.advance(-1h);
  EXPECT_TRUE(store_.release(ann));
  EXPECT_FALSE(store_.release(ann));
  EXPECT_LE(store_.look("gate")->holders.at(0).remaining, 30s);
}

TEST_F(RedisScripts, AForgottenGateIsNotListedAndItsFencesGoOn) {
  const Token ann = enters("gate");
  EXPECT_TRUE(store_.release(ann));
  clock_.wall_ahead = -1h;
  clock_.advance(11min);
  store_.collect();
  EXPECT_NE(command({"EXISTS", key(":gate")}), "0") << "the fence is kept";
  EXPECT_GT(std::stol(command({"PTTL", key(":gate")})), 0);
  const std::string before = command({"DUMP", key(":gate")});
  clock_.advance(1s);
  EXPECT_THAT(store_.list(), IsEmpty());
  store_.collect();
  EXPECT_EQ(command({"DUMP", key(":gate")}), before);
  EXPECT_FALSE(store_.release(ann));
  EXPECT_FALSE(store_.look("gate"));
  EXPECT_GT(enters("gate").fence, ann.fence);
}

// --- how long keys last ---

TEST_F(RedisScripts, AReleaseAfterManyRenewalsMakesTheKeysLast) {
  const Token ann = enters("gate", 2, 10min);
  const Token bob = enters("gate", 2, 10min);
  for (int i = 0; i < 8; ++i) {
    clock_.advance(5min);
    EXPECT_EQ(store_.renew(ann, 10min), Renewal::renewed);
    EXPECT_EQ(store_.renew(bob, 10min), Renewal::renewed);
  }
  clock_.advance(2min);
  command({"PEXPIRE", key(":gate"), "1000000"});
  EXPECT_TRUE(store_.release(ann));
  EXPECT_GT(std::stol(command({"PTTL", key(":gate")})), 2'400'000);
}

TEST_F(RedisScripts, AHandOverThatMayBeClaimedForADayMakesTheKeysLast) {
  (void)enters("gate", 2);
  const Token ann = enters("gate", 2);
  Request bob = joining("gate", 2);
  bob.line.claim_window = 24h;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  EXPECT_TRUE(store_.release(ann));
  for (const std::string_view part : {":gate", ":in"}) {
    EXPECT_GT(std::stol(command({"PTTL", key(part)})), 24 * 3'600'000) << part;
  }
}

TEST_F(RedisScripts, AGateForOneIsOneKey) {
  const Token ann = enters("gate");
  EXPECT_EQ(store_.renew(ann, 1min), Renewal::renewed);
  EXPECT_EQ(command({"KEYS", key("*")}), key(":gate") + "\n");
  EXPECT_TRUE(std::holds_alternative<Refused>(store_.admit(asks("gate", VisitorId::random()))));
  clock_.advance(1min);
  const Token bob = enters("gate");
  EXPECT_FALSE(store_.release(ann));
  EXPECT_TRUE(store_.release(bob));
  EXPECT_EQ(command({"KEYS", key("*")}), key(":gate") + "\n");
}

TEST_F(RedisScripts, WhoHandsOverBesideOthersIsInNoSetAnyMore) {
  (void)enters("gate", 2);
  const Token ann = enters("gate", 2);
  const Request bob = joining("gate", 2);
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  EXPECT_TRUE(store_.release(ann));
  EXPECT_EQ(command({"ZRANGE", key(":in"), "0", "-1"}), redis::pack_visitor(bob.visitor) + "\n");
}

TEST_F(RedisScripts, WhoIsHandedTheOnlySlotNeedsNoSet) {
  const Token wide = enters("gate", 3, 30s, 2);
  const Token ann = enters("gate", 3);
  EXPECT_TRUE(store_.release(wide));
  const Request bob = joining("gate");
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  EXPECT_TRUE(store_.release(ann));
  EXPECT_EQ(command({"KEYS", key("*")}), key(":gate") + "\n");
  EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(bob)));
  EXPECT_EQ(command({"KEYS", key("*")}), key(":gate") + "\n");
}

// Two are passed over in one call: with the first the set is made again, though the second still counts.
TEST_F(RedisScripts, WhoIsPassedOverTogetherWithOneWhoIsGivenUpHasAPlaceThatEnds) {
  const VisitorId called = VisitorId::random();
  std::vector<Request> group = {asks("g/one", called), asks("g/two", called)};
  for (Request& ask : group) {
    ask.line.join = true;
    ask.line.patience = 1min;
    ask.line.claim_window = 4s;
  }
  const Token ann = enters("g/one");
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit_all(group).because));
  Request impatient = joining("g/one");
  impatient.line.patience = 5s;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(impatient)));
  EXPECT_TRUE(store_.release(ann));  // It is called.
  clock_.advance(6s);
  EXPECT_EQ(store_.look("g/one")->counts.waiting, 1U);
  EXPECT_GT(std::stol(command({"PTTL", key(":out", "g/one")})), 0);
}

// --- who is told ---

// Several times: names of channels are mostly as long as others, but not always.
TEST_F(RedisScripts, WhoClaimsThroughAnotherProcessIsToldThere) {
  const auto listening = [&] {
    auto store = open();
    const Request ask = joining("elsewhere");
    (void)store.admit(ask);
    EXPECT_TRUE(store.watch("elsewhere", ask.visitor, [] {}));
    return store;
  };
  const auto channel_at = [&](const GateName& gate, const VisitorId& visitor) {
    const std::string record = command({"HGET", key(":gate", gate), redis::pack_visitor(visitor)});
    const std::size_t at = record.find(":wake:");
    return record.substr(at, record.find_first_not_of("0123456789", at + 6) - at);
  };
  (void)enters("elsewhere");
  const auto waiting = listening();
  for (int i = 0; i < 8; ++i) {
    const GateName gate = "gate" + std::to_string(i);
    const Token ann = enters(gate);
    const Request bob = joining(gate);
    ASSERT_TRUE(std::holds_alternative<Queued>(waiting.admit(bob)));
    clock_.advance(1ms);
    EXPECT_TRUE(store_.release(ann));
    const std::string before = channel_at(gate, bob.visitor);
    EXPECT_TRUE(std::holds_alternative<Granted>(listening().admit(bob)));
    EXPECT_NE(channel_at(gate, bob.visitor), before);
  }
}

TEST_F(RedisScripts, AClaimForADayMakesTheKeysLast) {
  Request bob = joining("gate");
  bob.permits->ttl = 24h;
  (void)handed_over(bob, 1ms);
  EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(bob)));
  EXPECT_GT(std::stol(command({"PTTL", key(":gate")})), 24 * 3'600'000);
}

TEST_F(RedisScripts, AClaimIsCountedWithItsWait) {
  const Request bob = handed_over(joining("gate"), 7ms);
  EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(bob)));
  const Counters counters = store_.look("gate")->counters;
  EXPECT_EQ(counters.granted, 2U);
  EXPECT_EQ(counters.waits[2], 1U);  // Above 5 ms, up to 10.
  EXPECT_EQ(counters.wait_sum, 7ms);
}

TEST_F(RedisScripts, AClaimIsGoodThoughTheClockWasSetBack) {
  const Request bob = handed_over(joining("gate"), 7ms);
  clock_.advance(-3ms);
  EXPECT_EQ(std::get<Granted>(store_.admit(bob)).expires_in, bob.permits->ttl);
  EXPECT_EQ(store_.look("gate")->counters.wait_sum, 7ms);  // The gate's time has stood still.
}

// Its id is what stands in a gate's record where there is no one who needs no set.
TEST_F(RedisScripts, TheVisitorZeroIsSomebody) {
  const auto zero_beside_one_who_left = [&](const GateName& gate) {
    const Token ann = enters(gate, 2);
    Request zero = asks(gate, VisitorId{}, 2);
    const Token token = std::get<Granted>(store_.admit(zero)).token;
    EXPECT_TRUE(store_.release(ann));
    return token;
  };
  const Token renewed = zero_beside_one_who_left("renewed");
  clock_.advance(20s);
  EXPECT_EQ(store_.renew(renewed, 30s), Renewal::renewed);
  clock_.advance(20s);
  EXPECT_TRUE(store_.release(renewed));
  EXPECT_TRUE(store_.release(zero_beside_one_who_left("released")));
  EXPECT_EQ(command({"ZCARD", key(":in", "released")}), "0");
  const Token revoked = zero_beside_one_who_left("revoked");
  EXPECT_EQ(store_.revoke("revoked", revoked.visitor, Revoke::now), 1U);
  EXPECT_EQ(command({"ZCARD", key(":in", "revoked")}), "0");

  const Token ann = enters("claimed", 2);
  const Token bob = enters("claimed", 2);
  Request zero = asks("claimed", VisitorId{}, 2);
  zero.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(zero)));
  clock_.advance(1ms);
  EXPECT_TRUE(store_.release(bob));
  EXPECT_TRUE(store_.release(ann));
  EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(zero)));
  clock_.advance(20s);
  EXPECT_THAT(holders("claimed"), ElementsAre(zero.visitor));
}

TEST_F(RedisScripts, AClaimWithoutRatesSaysWhatTheHandOverTook) {
  const Token ann = enters("gate");
  const Rate rate{.count = 5, .period = 1h};
  Request bob = joining("gate");
  bob.rates = {&rate, 1};
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  clock_.advance(1ms);
  EXPECT_TRUE(store_.release(ann));
  bob.rates = {};
  EXPECT_EQ(std::get<Granted>(store_.admit(bob)).taken, 1U);
}

TEST_F(RedisScripts, WhoIsRevokedBeforeItClaimsEndsWithTheGrace) {
  const Request bob = handed_over(joining("gate"), 1ms);
  EXPECT_EQ(store_.revoke("gate", bob.visitor, Revoke::graceful), 1U);
  EXPECT_LT(std::get<Granted>(store_.admit(bob)).expires_in, bob.permits->ttl / 2);
}

TEST_F(RedisScripts, WhoClaimsAsDetachedIsDetached) {
  Request bob = handed_over(joining("gate"), 1ms);
  bob.hold = Hold::detached;
  EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(bob)));
  EXPECT_EQ(store_.look("gate")->holders.front().hold, Hold::detached);
}

TEST_F(RedisScripts, WhoseProcessIsGoneIsPassedOver) {
  const Token ann = enters("gate");
  const Request gone = joining("gate");
  waits_and_goes(gone);
  const Request next = joining("gate");
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(next)));
  EXPECT_TRUE(store_.release(ann));
  EXPECT_THAT(holders(), ElementsAre(next.visitor));
  ASSERT_EQ(store_.look("gate")->line.size(), 1U);
  EXPECT_FALSE(store_.look("gate")->line[0].present);
}

TEST_F(RedisScripts, WhoWaitsForSeveralGatesAndIsGoneIsPassedOver) {
  const Token ann = enters("g/one");
  const VisitorId gone = VisitorId::random();
  {
    const auto ending = open();
    std::vector<Request> group = {asks("g/one", gone), asks("g/two", gone)};
    for (Request& ask : group) ask.line.join = true;
    ASSERT_TRUE(std::holds_alternative<Queued>(ending.admit_all(group).because));
    ASSERT_TRUE(ending.watch("g/one", gone, [] {}));
  }
  await_silence();
  const Request next = joining("g/one");
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(next)));
  EXPECT_TRUE(store_.release(ann));
  EXPECT_THAT(holders("g/one"), ElementsAre(next.visitor));
}

// The head of a line that takes just what is given back, and one that takes a part of it.
TEST_F(RedisScripts, WhoIsDetachedIsHandedASlotThoughNobodyListens) {
  for (const std::uint32_t weight : {1U, 2U}) {
    const GateName gate = "gate" + std::to_string(weight);
    const Token ann = enters(gate, weight, 30s, weight);
    Request detached = joining(gate, weight);
    detached.hold = Hold::detached;
    waits_and_goes(detached);
    EXPECT_TRUE(store_.release(ann));
    EXPECT_THAT(holders(gate), ElementsAre(detached.visitor));
  }
}

TEST_F(RedisScripts, WhoAsksIsAnsweredAndNotToldBesides) {
  const Token ann = enters("gate");
  const Request bob = joining("gate");
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  ASSERT_TRUE(store_.watch("gate", bob.visitor, [] {}));
  store_.pause("gate", 1s);
  EXPECT_TRUE(store_.release(ann));
  clock_.advance(1s);
  const long before = calls_of("publish");
  EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(bob)));
  EXPECT_EQ(calls_of("publish"), before);
}

TEST_F(RedisScripts, ARightThatIsMissingIsFound) {
  command({"ACL", "SETUSER", "poor", "reset", "on", ">poor", "~*", "&*", "+@all", "-zcount"});
  redis::Address address = RedisServer::shared().address();
  address.user = address.password = "poor";
  EXPECT_THAT(open(address).examine(), Contains(Field(&Finding::what, HasSubstr("ZCOUNT"))));
  EXPECT_THAT(store_.examine(), Contains(Field(&Finding::what, HasSubstr("may do all they need"))));
}

// --- several servers ---

class ScriptsAfterAFailover : public RedisScripts {
 protected:
  static constexpr Duration kDelay = 5s;

  // As if the server were another than the one that wrote the gate.
  void fail_over() { command({"HSET", key(":gate"), "r", "another"}); }

  const Store careful_ = redis::make_store({.address = RedisServer::shared().address(),
                                            .prefix = prefix_,
                                            .timeout = 5s,
                                            .handover_delay = kDelay,
                                            .scripts = &stepped::scripts(),
                                            .stepped = &clock_,
                                            .seed = [] { return 7; }});
};

TEST_F(ScriptsAfterAFailover, AdmitNobodyUntilWhatTheyMayNotKnowHasEnded) {
  const Token ann = std::get<Granted>(careful_.admit(asks("gate", VisitorId::random(), 9))).token;
  EXPECT_TRUE(std::holds_alternative<Granted>(careful_.admit(asks("gate", ann.visitor, 9))));
  fail_over();
  const Answer answer = careful_.admit(asks("gate", VisitorId::random(), 9));
  ASSERT_TRUE(std::holds_alternative<Refused>(answer));
  EXPECT_EQ(std::get<Refused>(answer).reason, Reason::paused);
  EXPECT_EQ(std::get<Refused>(answer).retry_after, kDelay);
  EXPECT_EQ(careful_.renew(ann, 30s), Renewal::renewed);
  EXPECT_TRUE(careful_.release(ann));
  clock_.advance(kDelay);
  EXPECT_TRUE(
      std::holds_alternative<Granted>(careful_.admit(asks("gate", VisitorId::random(), 9))));
}

// The rules as a whole, and INFO in every call, took four times as long.
TEST_F(ScriptsAfterAFailover, TakeTheirShortWaysWhereThereWasNone) {
  const auto come_and_go = [&] {
    const Answer answer = careful_.admit(asks("gate", VisitorId::random(), 9));
    EXPECT_TRUE(careful_.release(std::get<Granted>(answer).token));
  };
  come_and_go();
  const long asked = calls_of("info");
  const long slow = calls_of("zcard");
  for (int i = 0; i < 10; ++i) come_and_go();
  EXPECT_LT(calls_of("info") - asked, 10);  // Some by this test.
  EXPECT_EQ(calls_of("zcard"), slow);
}

TEST_F(RedisScripts, ALeaseLastsAtMostTwiceItsTimeWhenTheClockIsSetBack) {
  (void)enters("gate", 1, 6s);
  clock_.advance(5s - 1h);  // Nobody used the gate in these 5 s.
  EXPECT_EQ(store_.look("gate")->holders.at(0).remaining, 6s);
  clock_.advance(6s);
  EXPECT_EQ(store_.look("gate")->counts.holders, 0U);
}

// What gives back and renews is not refused when memory is full, also where the server is a new one.
TEST_F(ScriptsAfterAFailover, DoNotRefuseWhatGivesBackWhenMemoryIsFull) {
  RedisServer own;
  const auto store = redis::make_store({.address = own.address(),
                                        .prefix = prefix_,
                                        .timeout = 5s,
                                        .handover_delay = kDelay,
                                        .scripts = &stepped::scripts(),
                                        .stepped = &clock_});
  const GateName gates[] = {"renewed", "released", "left"};
  std::vector<Token> tokens;
  Request waits = joining("left");
  for (const GateName& gate : gates) {
    tokens.push_back(std::get<Granted>(store.admit(asks(gate, VisitorId::random()))).token);
  }
  (void)store.admit(waits);
  for (const GateName& gate : gates) own.command({"HSET", key(":gate", gate), "r", "another"});
  own.command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(store.renew(tokens[0], 1min), Renewal::renewed);
  EXPECT_TRUE(store.release(tokens[1]));
  EXPECT_TRUE(store.leave("left", waits.visitor));
  own.command({"CONFIG", "SET", "maxmemory", "0"});
  for (const GateName& gate : gates) {
    const Answer answer = store.admit(asks(gate, VisitorId::random(), 9));
    ASSERT_TRUE(std::holds_alternative<Refused>(answer));
    EXPECT_EQ(std::get<Refused>(answer).reason, Reason::paused);
  }
}

TEST_F(RedisScripts, AClusterTellsWhoWaitsThroughTheChannelOfItsSlot) {
  const testing::FreePort port;
  const testing::FreePort bus;
  RedisServer node({"--port", port.text(), "--bind", "127.0.0.1", "--cluster-enabled", "yes",
                    "--cluster-port", bus.text()});
  ASSERT_EQ(node.command({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"}), "OK");
  testing::wait_until("it has all slots", [&] {
    return node.command({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
  });
  // The longest prefix and the longest name that there are.
  const auto store = redis::make_store({.seeds = {{.host = "127.0.0.1", .port = port.number()}},
                                        .prefix = prefix_ + std::string(64 - prefix_.size(), 'x'),
                                        .timeout = 5s,
                                        .scripts = &stepped::scripts(),
                                        .stepped = &clock_});
  for (const GateName& gate : {GateName("gate"), GateName(std::string(200, 'g'))}) {
    const Token ann = std::get<Granted>(store.admit(asks(gate, VisitorId::random()))).token;
    const Request bob = joining(gate);
    ASSERT_TRUE(std::holds_alternative<Queued>(store.admit(bob)));
    std::atomic<bool> told = false;
    ASSERT_TRUE(store.watch(gate, bob.visitor, [&] { told = true; }));
    EXPECT_EQ(store.look(gate)->line.at(0).visitor, bob.visitor);
    EXPECT_TRUE(store.release(ann));
    redis::deliver_messages(store);
    EXPECT_TRUE(told);
    clock_.advance(1ms);
    EXPECT_TRUE(std::holds_alternative<Granted>(store.admit(bob)));
  }
  EXPECT_THAT(store.examine(), Contains(Field(&Finding::what, HasSubstr("may do all they need"))));
}

// --- what somebody has removed ---

TEST_F(RedisScripts, AVisitWhoseRecordIsGoneHindersNobody) {
  const Token ann = enters("gate", 3);
  const Token bob = enters("gate", 3, 1h);
  const Token eve = enters("gate", 3);
  for (const Token& gone : {ann, eve}) {
    command({"HDEL", key(":gate"), redis::pack_visitor(gone.visitor)});
  }
  EXPECT_THAT(holders(), ElementsAre(bob.visitor));
  clock_.advance(30s);
  EXPECT_THAT(holders(), ElementsAre(bob.visitor));
  EXPECT_EQ(command({"ZCARD", key(":in")}), "1");
  command({"HDEL", key(":gate"), redis::pack_visitor(bob.visitor)});
  EXPECT_FALSE(store_.release(bob));
  clock_.advance(1h);
  EXPECT_EQ(store_.look("gate")->counts.in_use, 0U);
}

// A message is a hint. Without the right to send it the release used to end behind its first write, and the
// permit was lost.
TEST_F(RedisScripts, AHolderWithoutTheRightToTheChannelGivesItsPermitBack) {
  command({"ACL", "SETUSER", "mute", "reset", "on", ">mute", "~*", "resetchannels", "+@all"});
  redis::Address address = RedisServer::shared().address();
  address.user = address.password = "mute";
  const auto mute = open(address);
  for (const std::uint32_t weight : {1U, 2U}) {
    const GateName gate = "gate" + std::to_string(weight);
    Request ask = asks(gate, VisitorId::random(), weight);
    ask.permits->weight = weight;
    const Token ann = std::get<Granted>(mute.admit(ask)).token;
    const Request bob = joining(gate, weight);
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
    ASSERT_TRUE(store_.watch(gate, bob.visitor, [] {}));
    EXPECT_TRUE(mute.release(ann));
    EXPECT_EQ(store_.look(gate)->counts.in_use, 1U);
    EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(bob)));
  }
}

}  // namespace
}  // namespace airlock
