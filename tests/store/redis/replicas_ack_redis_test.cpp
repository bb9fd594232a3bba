#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/support/with_sentinels.hpp"
#include "store/support/asker.hpp"
#include "store/support/failures.hpp"

// replicas_ack: a grant counts when the replicas have it. That none is lost in a failover is a part
// of try_failover().

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::asks;
using testing::failure_of;

class ReplicasAck : public testing::WithSentinels {
 protected:
  static testing::RedisProcess& a_replica() {
    return sentinels().server(sentinels().replicas().front());
  }
};

TEST_F(ReplicasAck, AnAdmissionIsAnsweredWhenAllReplicasHaveIt) {
  const auto store = opened("&replicas_ack=2&timeout=5s");
  (void)store.admit(asks("warm", VisitorId::random()));
  a_replica().stop();
  auto answer = std::async(std::launch::async,
                           [&] { return store.admit(asks("gate", VisitorId::random())); });
  EXPECT_EQ(answer.wait_for(300ms), std::future_status::timeout);
  a_replica().go_on();
  ASSERT_EQ(answer.wait_for(2s), std::future_status::ready);
  EXPECT_TRUE(std::holds_alternative<Granted>(answer.get()));
}

TEST_F(ReplicasAck, FewerThanAllMayBeEnough) {
  const auto store = opened("&replicas_ack=1");
  a_replica().stop();
  EXPECT_TRUE(std::holds_alternative<Granted>(store.admit(asks("gate", VisitorId::random()))));
}

TEST_F(ReplicasAck, AnAdmissionThatTooFewHaveFailsByTheDeadlineAndIsUndone) {
  const auto store = opened("&replicas_ack=2&timeout=1s");
  const auto plain = opened();
  (void)store.admit(asks("warm", VisitorId::random()));
  a_replica().stop();
  for (int i = 0; i < 3; ++i) {
    const testing::Stopwatch watch;
    const auto failure = failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); });
    EXPECT_LT(watch.own(), 1300ms);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->outcome(), StoreError::Outcome::nothing_happened) << failure->what();
    const auto view = plain.look("gate");
    EXPECT_TRUE(!view || view->counts.holders == 0) << failure->what();
  }
  EXPECT_TRUE(std::holds_alternative<Granted>(plain.admit(asks("gate", VisitorId::random()))));
}

TEST_F(ReplicasAck, AGroupThatTooFewHaveIsUndone) {
  const auto store = opened("&replicas_ack=2&timeout=1s");
  const auto plain = opened();
  a_replica().stop();
  const VisitorId ann = VisitorId::random();
  const std::vector<Request> both = {asks("g/a", ann), asks("g/b", ann)};
  EXPECT_TRUE(failure_of([&] { (void)store.admit_all(both); }));
  for (const char* const gate : {"g/a", "g/b"}) {
    const auto view = plain.look(gate);
    EXPECT_TRUE(!view || view->counts.holders == 0) << gate;
  }
}

TEST_F(ReplicasAck, AClaimThatTooFewHaveIsUndone) {
  const auto store = opened("&replicas_ack=2&timeout=1s");
  const auto plain = opened();
  const Token held = std::get<Granted>(plain.admit(asks("gate", VisitorId::random()))).token;
  Request waits = asks("gate", VisitorId::random());
  waits.line.join = true;
  waits.line.claim_window = 20s;
  waits.line.patience = 20s;
  ASSERT_TRUE(std::holds_alternative<Queued>(store.admit(waits)));
  a_replica().stop();
  EXPECT_TRUE(plain.release(held));
  EXPECT_TRUE(failure_of([&] { (void)store.admit(waits); }));
  EXPECT_EQ(plain.look("gate")->counts.holders, 0U);
}

TEST_F(ReplicasAck, WhatIsHeldIsReleasedWithoutThem) {
  const auto store = opened("&replicas_ack=2&timeout=1s");
  const Token token = std::get<Granted>(store.admit(asks("gate", VisitorId::random()))).token;
  a_replica().stop();
  EXPECT_TRUE(store.release(token));
}

TEST_F(ReplicasAck, WorksAgainWhenTheReplicaDoes) {
  const auto store = opened("&replicas_ack=2&timeout=1s");
  a_replica().stop();
  EXPECT_TRUE(failure_of([&] { (void)store.admit(asks("gate", VisitorId::random())); }));
  sentinels().bring_back();
  EXPECT_TRUE(std::holds_alternative<Granted>(store.admit(asks("gate", VisitorId::random()))));
}

}  // namespace
}  // namespace airlock
