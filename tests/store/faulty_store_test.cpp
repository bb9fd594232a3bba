#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "airlock/testing.hpp"
#include "store/backend.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock::testing {
namespace {

using internal::SteppedClock;

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals
using Kind = StoreError::Kind;
using Outcome = StoreError::Outcome;

class FaultyStoreTest : public ::testing::Test {
 protected:
  static Request ask(std::string_view visitor) {
    return {.gate = "erp",
            .visitor = VisitorId::named(visitor),
            .permits = Permits{.limit = 1, .ttl = 10s}};
  }

  Token admitted(std::string_view visitor) {
    return std::get<Granted>(store_.admit(ask(visitor))).token;
  }

  std::uint32_t holders() {
    const auto view = inner_.look("erp");
    return view ? view->counts.holders : 0;
  }

  template <typename Step>
  static void expect_failure(Kind kind, Outcome outcome, const Step& step) {
    try {
      step();
      ADD_FAILURE() << "did not throw";
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_EQ(error.outcome(), outcome);
    }
  }

  SteppedClock clock_;
  Store inner_ = memory_store(clock_);
  FaultyStore store_{inner_};
};

TEST_F(FaultyStoreTest, PassesEverythingOnWhenToldNothing) {
  const Token token = admitted("a");
  EXPECT_EQ(store_.id(), inner_.id());
  EXPECT_EQ(&internal::backend_of(store_)->clock(), &clock_);
  EXPECT_EQ(store_.list(), std::vector<std::string>{"erp"});
  EXPECT_EQ(store_.renew(token, 20s), Renewal::renewed);
  store_.pause("erp", 1s);
  EXPECT_TRUE(store_.resume("erp"));
  EXPECT_TRUE(store_.release(token));
  EXPECT_EQ(holders(), 0U);
}

TEST_F(FaultyStoreTest, FailsTheNextStepsWithoutDoingThem) {
  store_.fail_next(2, Kind::no_room);
  for (int i = 0; i < 2; ++i) {
    expect_failure(Kind::no_room, Outcome::nothing_happened, [&] { admitted("a"); });
  }
  EXPECT_EQ(holders(), 0U);
  admitted("a");
  EXPECT_EQ(holders(), 1U);
}

TEST_F(FaultyStoreTest, DropsAReplyAfterDoingTheStep) {
  store_.drop_reply_next(1);
  expect_failure(Kind::unavailable, Outcome::unknown, [&] { admitted("a"); });
  EXPECT_EQ(holders(), 1U);
  EXPECT_TRUE(std::get<Granted>(store_.admit(ask("a"))).repeated);
}

TEST_F(FaultyStoreTest, ADroppedRenewalLeavesNoResultBehind) {
  std::vector<RenewItem> items = {{.token = admitted("a"), .ttl = 60s}};
  store_.drop_reply_next(1);
  expect_failure(Kind::unavailable, Outcome::unknown, [&] { store_.renew(items); });
  EXPECT_EQ(items[0].result, Renewal::unknown);
  clock_.advance(30s);
  EXPECT_EQ(holders(), 1U);
  store_.renew(items);
  EXPECT_EQ(items[0].result, Renewal::renewed);
}

TEST_F(FaultyStoreTest, FailuresComeBeforeDroppedReplies) {
  store_.drop_reply_next(1);
  store_.fail_next(1, Kind::unavailable);
  expect_failure(Kind::unavailable, Outcome::nothing_happened, [&] { admitted("a"); });
  expect_failure(Kind::unavailable, Outcome::unknown, [&] { admitted("a"); });
  admitted("a");
}

TEST_F(FaultyStoreTest, WhileDownNothingHappensAndPlansWait) {
  const Token token = admitted("a");
  store_.fail_next(1, Kind::no_room);
  store_.down(true);
  for (int i = 0; i < 3; ++i) {
    expect_failure(Kind::unavailable, Outcome::nothing_happened, [&] { store_.release(token); });
  }
  store_.down(false);
  expect_failure(Kind::no_room, Outcome::nothing_happened, [&] { store_.release(token); });
  EXPECT_TRUE(store_.release(token));
}

TEST_F(FaultyStoreTest, LosesALeaseBehindItsHoldersBack) {
  const Token token = admitted("a");
  store_.down(true);
  EXPECT_TRUE(store_.lose(token));
  EXPECT_FALSE(store_.lose(token));
  store_.down(false);
  EXPECT_EQ(store_.renew(token, 10s), Renewal::gone);
  EXPECT_FALSE(store_.release(token));
}

TEST_F(FaultyStoreTest, LosesOnlyTheLeaseOfThatFence) {
  const Token old = admitted("a");
  EXPECT_TRUE(store_.release(old));
  admitted("a");
  EXPECT_FALSE(store_.lose(old));
  EXPECT_EQ(holders(), 1U);
}

TEST_F(FaultyStoreTest, CountsTheStepsThatWereAsked) {
  const Token token = admitted("a");
  store_.fail_next(1, Kind::busy);
  expect_failure(Kind::busy, Outcome::nothing_happened, [&] { store_.renew(token, 10s); });
  EXPECT_EQ(store_.renew(token, 10s), Renewal::renewed);
  EXPECT_EQ(store_.calls("renew"), 2U);
  EXPECT_EQ(store_.calls("admit"), 1U);
  EXPECT_EQ(store_.calls("release"), 0U);
  EXPECT_EQ(store_.calls(), 3U);
}

TEST_F(FaultyStoreTest, WatchesAndHousekeepingNeverFail) {
  store_.down(true);
  EXPECT_NO_THROW((void)store_.watch("erp", VisitorId::named("a"), [] {}));
  EXPECT_NO_THROW(store_.unwatch("erp", VisitorId::named("a")));
  EXPECT_NO_THROW(store_.collect());
  EXPECT_NO_THROW((void)internal::backend_of(store_)->recheck_intervals());
  EXPECT_EQ(store_.calls(), 0U);
}

}  // namespace
}  // namespace airlock::testing
