#include <string>
#include <vector>

#include "contract/support/store_contract.hpp"

// Laws 5, 6, 7 and 9: who may release what, whose time it is, fences that grow, nothing left
// behind.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- law 5 ---

TEST_P(StoreContract, AnExpiredHolderCannotReleaseItsSuccessor) {
  const Token ann = enters(visitor("ann").ttl(1s)).token;
  after(1s);
  enters("bob");
  EXPECT_FALSE(releases(ann));
  EXPECT_THAT(holders(), ElementsAre("bob"));
}

TEST_P(StoreContract, AnOldTokenCannotTouchTheSameVisitorsNextAdmission) {
  const Token old = enters(visitor("ann").ttl(1s)).token;
  after(1s);
  enters("ann");
  const std::string before = describe(look());
  EXPECT_FALSE(releases(old));
  EXPECT_EQ(store().renew(old, 1min), Renewal::gone);
  EXPECT_FALSE(store().disown(old));
  EXPECT_FALSE(store().adopt(old).has_value());
  EXPECT_EQ(describe(look()), before);
}

TEST_P(StoreContract, ATokenOfSomebodyElseTouchesNobody) {
  Token ann = enters("ann").token;
  const std::string before = describe(look());
  ann.visitor = VisitorId::named("bob");
  EXPECT_FALSE(releases(ann));
  EXPECT_EQ(store().renew(ann, 1min), Renewal::gone);
  EXPECT_EQ(describe(look()), before);
}

TEST_P(StoreContract, ATokenOfAnUnknownGateIsGone) {
  Token ann = enters("ann").token;
  ann.gate = "unknown";
  EXPECT_FALSE(releases(ann));
  EXPECT_EQ(store().renew(ann, 1min), Renewal::gone);
  EXPECT_FALSE(store().adopt(ann).has_value());
  EXPECT_FALSE(knows("unknown"));
}

TEST_P(StoreContract, AReleaseSaysWhetherThereWasSomethingToRelease) {
  const Token ann = enters("ann").token;
  EXPECT_TRUE(releases(ann));
  EXPECT_FALSE(releases(ann));
  const Token bob = enters(visitor("bob").ttl(1s)).token;
  after(1s);
  EXPECT_FALSE(releases(bob));
}

// Scenario 6.
TEST_P(StoreContract, ARenewalCountsFromNow) {
  const Token ann = enters("ann").token;
  after(20s);
  EXPECT_EQ(store().renew(ann, 30s), Renewal::renewed);
  EXPECT_LASTS(repeats("ann").expires_in, 30s);
  EXPECT_EQ(repeats("ann").token, ann);
  EXPECT_EQ(store().renew(ann, 5s), Renewal::renewed);
  EXPECT_LASTS(repeats("ann").expires_in, 5s);
  after(5s);
  enters("bob");
}

TEST_P(StoreContract, AnExpiredLeaseCannotBeRenewedEvenIfNobodyTookItsPlace) {
  const Token ann = enters(visitor("ann").ttl(1s)).token;
  after(1s);
  EXPECT_EQ(store().renew(ann, 1min), Renewal::gone);
  EXPECT_THAT(holders(), IsEmpty());
}

TEST_P(StoreContract, ManyLeasesAreRenewedEachWithItsOwnAnswer) {
  const Token gone = enters(visitor("ann").at("one")).token;
  EXPECT_TRUE(releases(gone));
  std::vector<RenewItem> items;
  items.push_back({.token = gone, .ttl = 1min});
  items.push_back({.token = enters(visitor("ann").at("two")).token, .ttl = 1min});
  items.push_back({.token = enters(visitor("bob").at("three").ttl(1s)).token, .ttl = 2min});
  store().renew(items);
  EXPECT_EQ(items[0].result, Renewal::gone);
  EXPECT_EQ(items[1].result, Renewal::renewed);
  EXPECT_EQ(items[2].result, Renewal::renewed);
  EXPECT_LASTS(look("two").holders.at(0).remaining, 1min);
  EXPECT_LASTS(look("three").holders.at(0).remaining, 2min);
}

TEST_P(StoreContract, ALeaseMayBeDisownedAndAdopted) {
  const Token ann = enters("ann").token;
  EXPECT_EQ(look().holders.at(0).hold, Hold::bound);
  after(10s);
  EXPECT_TRUE(store().disown(ann));
  EXPECT_EQ(look().holders.at(0).hold, Hold::detached);
  const auto adopted = store().adopt(ann);
  ASSERT_TRUE(adopted.has_value());
  EXPECT_EQ(adopted->token, ann);
  EXPECT_LASTS(adopted->expires_in, 20s);
  EXPECT_EQ(look().holders.at(0).hold, Hold::bound);
}

TEST_P(StoreContract, AnExpiredLeaseCanNeitherBeDisownedNorAdopted) {
  const Token ann = enters(visitor("ann").ttl(1s)).token;
  after(1s);
  EXPECT_FALSE(store().disown(ann));
  EXPECT_FALSE(store().adopt(ann).has_value());
}

TEST_P(StoreContract, ADetachedLeaseEndsWithItsTtlToo) {
  enters(visitor("ann").detached().ttl(1s));
  after(1s);
  enters("bob");
}

// --- law 6 ---

TEST_P(StoreContract, ATtlIsExact) {
  for (const Duration ttl :
       {Duration(1us), Duration(999us), Duration(250ms), Duration(2500ms), Duration(24h * 365)}) {
    const Granted ann = enters(visitor("ann").ttl(ttl));
    EXPECT_LASTS(ann.expires_in, ttl);
    after(ttl - 1us);
    EXPECT_LASTS(is_refused("bob", Reason::full).retry_after, 1us);
    after(1us);
    EXPECT_FALSE(releases(ann.token));
    EXPECT_TRUE(releases(enters("bob").token));
  }
}

TEST_P(StoreContract, AShorterLeaseDoesNotEndALongerOne) {
  every_visitor.limit(2);
  enters(visitor("long").ttl(1h));
  enters(visitor("short").ttl(1s));
  after(1s);
  EXPECT_THAT(holders(), ElementsAre("long"));
}

TEST_P(StoreContract, AFullGateSaysWhenItsNextHolderEnds) {
  every_visitor.limit(2);
  enters(visitor("ann").ttl(1h));
  const Token bob = enters(visitor("bob").ttl(7s)).token;
  after(2s);
  EXPECT_LASTS(is_refused("cid", Reason::full).retry_after, 5s);
  EXPECT_EQ(store().renew(bob, 20s), Renewal::renewed);
  EXPECT_LASTS(is_refused("cid", Reason::full).retry_after, 20s);
}

TEST_P(StoreContract, AFullGateSaysWhenAHandOverMayLapse) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_LASTS(is_refused("cid", Reason::full).retry_after, 1s);
}

TEST_P(StoreContract, WallClockJumpsChangeNothing) {
  const Token ann = enters("ann").token;
  waits("bob");
  for (const Duration jump : {Duration(-1000h), Duration(2000h)}) {
    wall_jumps(jump);
    EXPECT_LASTS(repeats("ann").expires_in, 30s);
    EXPECT_THAT(line(), ElementsAre("bob"));
  }
  EXPECT_TRUE(releases(ann));
  wall_jumps(1000h);
  enters("bob");
}

// --- law 7 ---

TEST_P(StoreContract, FencesGrowWithEveryAdmission) {
  every_visitor.limit(3);
  Fence last = 0;
  for (int i = 0; i < 100; ++i) {
    const Token token = enters(std::to_string(i)).token;
    EXPECT_GT(token.fence, last);
    last = token.fence;
    EXPECT_EQ(look().last_fence, last);
    if (i % 3 == 2) after(30s);
  }
}

TEST_P(StoreContract, AHandOverHasAHigherFenceThanItsPredecessor) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_GT(enters("bob").token.fence, ann.fence);
}

TEST_P(StoreContract, AFenceIsAtLeastTheWallClock) {
  EXPECT_GE(enters("ann").token.fence, static_cast<Fence>(wall().count()));
}

TEST_P(StoreContract, TheFenceOfAHandOverIsAtLeastTheWallClock) {
  const Token ann = enters("ann").token;
  waits("bob");
  after(5s);
  EXPECT_TRUE(releases(ann));
  EXPECT_GE(enters("bob").token.fence, static_cast<Fence>(wall().count()));
}

TEST_P(StoreContract, FencesGrowWhenTheWallClockGoesBack) {
  const Token ann = enters("ann").token;
  EXPECT_TRUE(releases(ann));
  wall_jumps(-1000h);
  EXPECT_GT(enters("bob").token.fence, ann.fence);
}

TEST_P(StoreContract, FencesGrowAcrossAPurge) {
  const Token ann = enters("ann").token;
  wall_jumps(-1000h);
  EXPECT_TRUE(store().purge(gate()));
  EXPECT_GT(enters("bob").token.fence, ann.fence);
}

TEST_P(StoreContract, FencesGrowAcrossACollection) {
  const Token ann = enters("ann").token;
  EXPECT_TRUE(releases(ann));
  wall_jumps(-1000h);
  after(10min);
  store().collect();
  ASSERT_FALSE(knows(gate()));
  EXPECT_GT(enters("bob").token.fence, ann.fence);
}

// --- law 9 ---

TEST_P(StoreContract, AnIdleGateIsNotForgottenWithinTenMinutes) {
  const Token ann = enters("ann").token;
  EXPECT_TRUE(releases(ann));
  after(10min - 1us);
  store().collect();
  EXPECT_TRUE(knows(gate()));
}

TEST_P(StoreContract, AGateInUseIsNotForgotten) {
  enters(visitor("ann").at("held").ttl(1h));
  enters(visitor("ann").at("awaited").ttl(1h));
  waits(visitor("bob").at("awaited").patience(1h));
  enters(visitor("ann").at("rated").rate_only().rate({.count = 1, .period = 1h}));
  store().pause("paused", 1h);
  store().set_limit("limited", 3);
  after(20min);
  store().collect();
  EXPECT_THAT(store().list(), ElementsAre("awaited", "held", "limited", "paused", "rated"));
}

TEST_P(StoreContract, EverythingEndsByItselfExceptAnOperatorsLimit) {
  enters(visitor("ann").at("held"));
  waits(visitor("bob").at("held"));
  enters(visitor("ann").at("rated").rate_only().rate({.count = 5, .period = 1min}).dedupe(1min));
  store().pause("paused", 1min);
  store().set_limit("limited", 3);
  after(1h);
  store().collect();
  EXPECT_THAT(store().list(), ElementsAre("limited"));
  EXPECT_EQ(look("limited").override_limit, 3U);
}

TEST_P(StoreContract, GatesUsedOnceLeaveNothingBehind) {
  for (int i = 0; i < 10'000; ++i) {
    const Token token = enters(visitor("ann").at("key:" + std::to_string(i))).token;
    ASSERT_TRUE(releases(token));
  }
  after(11min);
  store().collect();
  EXPECT_THAT(store().list(), IsEmpty());
}

}  // namespace
}  // namespace airlock::contract
