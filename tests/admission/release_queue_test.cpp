#include "admission/release_queue.hpp"

#include <gtest/gtest.h>

#include "airlock/error.hpp"
#include "airlock/testing.hpp"
#include "store/backend.hpp"
#include "store/support/temp_dir.hpp"
#include "support/hooked_store.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock::internal {
namespace {

using namespace std::chrono_literals;

class ReleaseQueueTest : public ::testing::Test {
 protected:
  // Adds one of a gate.
  void add(const GateName& gate) {
    const Answer answer = store_.admit(
        {.gate = gate, .visitor = VisitorId::random(), .permits = Permits{.limit = 1, .ttl = 1h}});
    queue_.add(std::get<Granted>(answer).token, kForever);
  }
  [[nodiscard]] bool is_held(const GateName& gate) {
    return store_.look(gate)->counts.holders != 0;
  }

  internal::SteppedClock clock_;
  int failing_ = 0;  // So many releases to come.
  HookedStore store_{testing::memory_store(clock_), [this](std::string_view step) {
                       if (step != "release" || failing_ == 0) return;
                       --failing_;
                       throw StoreError(StoreError::Kind::unavailable,
                                        StoreError::Outcome::nothing_happened, "down");
                     }};
  base::Mutex mutex_;
  ReleaseQueue queue_{*backend_of(store_), mutex_};
};

TEST_F(ReleaseQueueTest, OneThatFailsKeepsNoOtherBack) {
  add("down");
  add("up");
  failing_ = 1;
  EXPECT_TRUE(queue_.send());
  EXPECT_TRUE(is_held("down"));
  EXPECT_FALSE(is_held("up"));
  EXPECT_FALSE(queue_.is_empty());
  EXPECT_EQ(queue_.next(), clock_.now() + 100ms);
}

TEST_F(ReleaseQueueTest, WhatFailedIsTriedAgainLaterAndKeepsNothingNewBack) {
  add("a");
  add("b");
  failing_ = 4;
  EXPECT_FALSE(queue_.send());
  EXPECT_FALSE(queue_.send()) << "its time has not come";
  EXPECT_EQ(failing_, 2);
  clock_.advance(100ms);
  EXPECT_FALSE(queue_.send());
  EXPECT_EQ(failing_, 0) << "both were tried";
  add("c");
  EXPECT_EQ(queue_.next(), Instant{0}) << "what is new waits for nothing";
  EXPECT_TRUE(queue_.send());
  EXPECT_FALSE(is_held("c"));
  clock_.advance(100ms);
  EXPECT_TRUE(queue_.send());
  EXPECT_TRUE(queue_.is_empty());
  EXPECT_EQ(queue_.next(), kForever);
}

TEST_F(ReleaseQueueTest, InTheEndWhatFailedHasItsChanceToo) {
  add("down");
  failing_ = 2;
  EXPECT_FALSE(queue_.send());
  queue_.flush(10s);
  EXPECT_FALSE(is_held("down"));
}

// What Attempt::leave() queues where the store was busy: it knows the visitor, and no fence.
TEST(ReleaseOfAVisitor, EndsItsPlaceOrWhatItWasHanded) {
  const TempDir dir;
  for (const std::string& uri : {std::string("memory:"), "shm:test?dir=" + dir.path()}) {
    const Store store = open_store(uri);
    const auto ask = [&](const VisitorId& visitor) {
      return store.admit({.gate = "erp",
                          .visitor = visitor,
                          .permits = Permits{.limit = 1, .ttl = 1h},
                          .line = {.join = true, .patience = 1h, .claim_window = 1h}});
    };
    const auto end = [&](const VisitorId& visitor) {
      std::vector<ReleaseItem> items = {{.token = {.store = 0, .gate = "erp", .visitor = visitor}}};
      backend_of(store)->release_all(items);
      EXPECT_TRUE(items.front().is_over);
    };
    const Token first = std::get<Granted>(ask(VisitorId::random())).token;
    const VisitorId waits = VisitorId::random();
    const VisitorId handed = VisitorId::random();
    (void)ask(handed);
    (void)ask(waits);
    end(waits);
    EXPECT_EQ(store.look("erp")->counts.waiting, 1U) << uri;
    store.release(first);
    end(handed);
    EXPECT_EQ(store.look("erp")->counts.holders, 0U) << uri;
  }
}

}  // namespace
}  // namespace airlock::internal
