#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/support/with_sentinels.hpp"
#include "store/support/asker.hpp"
#include "store/support/child.hpp"
#include "store/support/failures.hpp"

// handover_delay: a new primary may not know the last grants of the old one, so it waits until they
// have ended.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::Asker;
using testing::asks;
using testing::Loss;
using testing::RedisSentinels;
using testing::since;
using testing::TimePoint;

constexpr auto kDelay = 2s;

class HandoverDelay : public testing::WithSentinels {
 protected:
  [[nodiscard]] Store opened() const {
    return WithSentinels::opened("&timeout=3s&handover_delay=2s");
  }
};

TEST_F(HandoverDelay, GrantsNothingAtOnceAndEverythingAfterwards) {
  const auto old = opened();
  const Token kept = std::get<Granted>(old.admit(asks("held", VisitorId::random(), 2))).token;
  const Token given_back = std::get<Granted>(old.admit(asks("held", VisitorId::random(), 2))).token;
  (void)old.admit(asks("other", VisitorId::random(), 9));
  std::this_thread::sleep_for(50ms);

  const RedisSentinels::Failover failover = sentinels().fail_over(Loss::killed);
  const TimePoint promoted = failover.began + failover.outage;
  Asker asks_again(old, "held");
  Asker is_new(opened(), "held");
  Asker elsewhere(opened(), "other");

  // What is held is as it was.
  const auto fresh = opened();
  EXPECT_TRUE(fresh.release(given_back));
  EXPECT_EQ(fresh.renew(kept, 30s), Renewal::renewed);
  const TimePoint asked = std::chrono::steady_clock::now();
  EXPECT_LT(asked - promoted, 1500ms);
  EXPECT_EQ(fresh.look("held")->counts.holders, 1U);

  for (Asker* const asker : {&asks_again, &is_new, &elsewhere}) {
    EXPECT_FALSE(becomes_true([&] { return asker->got_in_since(promoted); },
                              std::chrono::duration_cast<std::chrono::milliseconds>(
                                  promoted + kDelay - 100ms - std::chrono::steady_clock::now())));
  }
  for (Asker* const asker : {&asks_again, &is_new, &elsewhere}) {
    EXPECT_TRUE(becomes_true([&] { return asker->got_in_since(promoted); },
                             std::chrono::duration_cast<std::chrono::milliseconds>(
                                 asked + kDelay + 500ms - std::chrono::steady_clock::now())));
    asker->stop();
  }
  EXPECT_TRUE(old.release(kept));
}

TEST_F(HandoverDelay, DelaysNothingWithoutAFailover) {
  const auto store = opened();
  (void)store.admit(asks("calm", VisitorId::random(), 2));
  const TimePoint start = std::chrono::steady_clock::now();
  EXPECT_TRUE(
      std::holds_alternative<Granted>(opened().admit(asks("calm", VisitorId::random(), 2))));
  EXPECT_LT(since(start), 500ms);
}

TEST_F(HandoverDelay, IsOverForGoodUntilTheNextFailover) {
  const auto store = opened();
  (void)store.admit(asks("later", VisitorId::random(), 100));
  std::this_thread::sleep_for(50ms);
  const RedisSentinels::Failover failover = sentinels().fail_over(Loss::stopped);
  Asker asker(store, "later");
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(failover.began + failover.outage); },
                           kDelay + 2s));
  // A delay that began again would last longer than this.
  const TimePoint first = std::chrono::steady_clock::now();
  EXPECT_TRUE(becomes_true([&] { return asker.got_in_since(first + 300ms); }, kDelay - 100ms));
}

}  // namespace
}  // namespace airlock
