#include <string>
#include <vector>

#include "contract/support/store_contract.hpp"

// Laws 11 and 12, the operator's limit, purge. What operators see has a file of its own.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- limit ---

TEST_P(StoreContract, ARaisedLimitAdmitsTheLineAtOnce) {
  enters("ann");
  waits("bob");
  waits("cid");
  waits("dan");
  store().set_limit(gate(), 3);
  EXPECT_THAT(handed(), ElementsAre("bob", "cid"));
  EXPECT_THAT(line(), ElementsAre("dan"));
}

TEST_P(StoreContract, AClearedLimitIsTheRequestsOwnAgain) {
  every_visitor.limit(2);
  store().set_limit(gate(), 1);
  enters("ann");
  waits("bob");
  store().set_limit(gate(), std::nullopt);
  EXPECT_THAT(handed(), ElementsAre("bob"));
  EXPECT_FALSE(look().override_limit.has_value());
}

TEST_P(StoreContract, ALimitCanBeSetBeforeAnybodyCame) {
  store().set_limit("quiet", 3);
  EXPECT_THAT(store().list(), ElementsAre("quiet"));
  EXPECT_EQ(look("quiet").override_limit, 3U);
}

TEST_P(StoreContract, AClearedLimitOfAnUnknownGateMakesNoGate) {
  store().set_limit("quiet", std::nullopt);
  EXPECT_FALSE(knows("quiet"));
  EXPECT_THAT(store().list(), IsEmpty());
}

TEST_P(StoreContract, ALoweredLimitKeepsNobodyFromBecomingLighter) {
  every_visitor.limit(4);
  const Token ann = enters(visitor("ann").weight(3)).token;
  enters("bob");
  store().set_limit(gate(), 1);
  std::vector<RenewItem> items = {{.token = ann, .ttl = 1min, .weight = 2}};
  store().renew(items);
  EXPECT_EQ(items.front().result, Renewal::renewed);
  EXPECT_EQ(look().counts.in_use, 3U);
  items.front().weight = 3;
  store().renew(items);
  EXPECT_EQ(items.front().result, Renewal::no_room);
}

TEST_P(StoreContract, ALoweredLimitHoldsForTheLineToo) {
  every_visitor.limit(2);
  const Token ann = enters("ann").token;
  enters("bob");
  waits("cid");
  store().set_limit(gate(), 1);
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), IsEmpty());
}

// --- pause ---

TEST_P(StoreContract, APausedGateAdmitsNobodyAndSaysUntilWhen) {
  store().pause(gate(), 30s);
  EXPECT_LASTS(is_refused("ann", Reason::paused).retry_after, 30s);
  after(12s);
  EXPECT_LASTS(is_refused("ann", Reason::paused).retry_after, 18s);
  after(18s);
  enters("ann");
}

TEST_P(StoreContract, APausedGateAdmitsNobodyByRateAlone) {
  store().pause(gate(), 30s);
  is_refused(visitor("ann").rate_only().rate({.count = 1, .period = 1s}), Reason::paused);
}

// What a tier has left is no way past a pause.
TEST_P(StoreContract, APauseClosesAGateWhoseRateIsKnown) {
  const auto ann = visitor("ann").rate_only().rate({.count = 5, .period = 1s});
  enters(ann);
  store().pause(gate(), 30s);
  is_refused(ann, Reason::paused);
}

TEST_P(StoreContract, AResumedGateIsOpen) {
  store().pause(gate(), 30s);
  EXPECT_TRUE(store().resume(gate()));
  enters("ann");
  EXPECT_FALSE(store().resume(gate()));
  EXPECT_FALSE(store().resume("unknown"));
}

TEST_P(StoreContract, AGateIsClosedWhileAnyReporterSaysSo) {
  store().pause(gate(), 10s, "health");
  store().pause(gate(), 20s, "vendor");
  EXPECT_EQ(look().pauses.size(), 2U);
  EXPECT_LASTS(is_refused("ann", Reason::paused).retry_after, 20s);
  after(10s);
  EXPECT_EQ(look().pauses.size(), 1U);
  EXPECT_EQ(look().pauses.at(0).reporter, "vendor");
  EXPECT_LASTS(look().pauses.at(0).remaining, 10s);
  is_refused("ann", Reason::paused);
  after(10s);
  enters("ann");
}

TEST_P(StoreContract, ResumeLiftsTheOperatorsPauseOnly) {
  store().pause(gate(), 30s);
  store().pause(gate(), 10s, "health");
  EXPECT_TRUE(store().resume(gate()));
  EXPECT_LASTS(is_refused("ann", Reason::paused).retry_after, 10s);
  EXPECT_FALSE(store().resume(gate(), "vendor"));
  EXPECT_TRUE(store().resume(gate(), "health"));
  enters("ann");
}

TEST_P(StoreContract, AReporterMayProlongItsPause) {
  store().pause(gate(), 10s, "health");
  after(5s);
  store().pause(gate(), 10s, "health");
  EXPECT_EQ(look().pauses.size(), 1U);
  EXPECT_LASTS(is_refused("ann", Reason::paused).retry_after, 10s);
}

TEST_P(StoreContract, AHandOverMadeBeforeAPauseMayBeClaimedDuringIt) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  store().pause(gate(), 30s);
  enters("bob");
}

TEST_P(StoreContract, RenewAndReleaseWorkDuringAPause) {
  const Token ann = enters("ann").token;
  store().pause(gate(), 30s);
  EXPECT_EQ(store().renew(ann, 1min), Renewal::renewed);
  EXPECT_TRUE(releases(ann));
}

TEST_P(StoreContract, NothingIsHandedOverDuringAPause) {
  const Token ann = enters("ann").token;
  waits("bob");
  store().pause(gate(), 5s);
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), IsEmpty());
  EXPECT_THAT(line(), ElementsAre("bob"));
  after(5s);
  enters("bob");
}

TEST_P(StoreContract, ResumeServesTheLineAtOnce) {
  const Token ann = enters("ann").token;
  waits("bob");
  store().pause(gate(), 5s);
  EXPECT_TRUE(releases(ann));
  EXPECT_TRUE(store().resume(gate()));
  EXPECT_THAT(handed(), ElementsAre("bob"));
}

TEST_P(StoreContract, AVisitorMayWaitForTheEndOfAPause) {
  store().pause(gate(), 2s);
  EXPECT_LASTS(waits("ann").next_check, 2s);
  EXPECT_EQ(waits("bob").position, 2U);
  after(2s);
  enters("ann");
}

TEST_P(StoreContract, ABargingVisitorDoesNotPassAPause) {
  store().pause(gate(), 2s);
  is_refused(visitor("ann").barges(), Reason::paused);
}

// --- revoke ---

TEST_P(StoreContract, ARevokedHolderHasAGrace) {
  const Token ann = enters("ann").token;
  EXPECT_EQ(store().revoke(gate(), VisitorId::named("ann"), Revoke::graceful), 1U);
  EXPECT_TRUE(look().holders.at(0).revoked);
  EXPECT_LASTS(look().holders.at(0).remaining, 10'100ms);
  EXPECT_EQ(store().renew(ann, 1min), Renewal::revoked);
  after(10'100ms - 1us);
  is_refused("bob", Reason::full);
  after(1us);
  enters("bob");
  EXPECT_EQ(store().renew(ann, 1min), Renewal::gone);
  EXPECT_EQ(look().counters.revoked, 1U);
  EXPECT_EQ(look().counters.expired, 0U);
}

TEST_P(StoreContract, ARevokedHolderMayReleaseBeforeItsGraceEnds) {
  const Token ann = enters("ann").token;
  waits("bob");
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), ElementsAre("bob"));
}

TEST_P(StoreContract, ARevokedHolderIsCountedOnceHoweverItEnds) {
  every_visitor.limit(4);
  const Token ann = enters("ann").token;
  for (const char* name : {"bob", "cid"}) enters(name);
  const Token dan = enters("dan").token;
  EXPECT_TRUE(releases(dan));
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(look().counters.revoked, 1U);
  store().revoke(gate(), VisitorId::named("bob"), Revoke::now);
  EXPECT_EQ(look().counters.revoked, 2U);
  after(1min);
  EXPECT_EQ(look().counters.revoked, 3U);
  EXPECT_EQ(look().counters.expired, 0U);
}

TEST_P(StoreContract, AGraceNeverProlongsALease) {
  enters("ann");
  after(25s);
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  EXPECT_LASTS(look().holders.at(0).remaining, 5s);
}

TEST_P(StoreContract, RevokingTwiceDoesNotProlongTheGrace) {
  enters("ann");
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  after(5s);
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  EXPECT_LASTS(look().holders.at(0).remaining, 5'100ms);
}

TEST_P(StoreContract, RevokingAtOnceMovesTheSlotAtOnce) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_EQ(store().revoke(gate(), std::nullopt, Revoke::now), 1U);
  EXPECT_THAT(handed(), ElementsAre("bob"));
  EXPECT_EQ(store().renew(ann, 1min), Renewal::gone);
  EXPECT_FALSE(releases(ann));
  EXPECT_EQ(look().counters.revoked, 1U);
}

TEST_P(StoreContract, RevokingNamesOneHolderOrMeansAll) {
  every_visitor.limit(3);
  for (const char* name : {"ann", "bob", "cid"}) enters(name);
  EXPECT_EQ(store().revoke(gate(), VisitorId::named("bob"), Revoke::now), 1U);
  EXPECT_THAT(holders(), ElementsAre("ann", "cid"));
  EXPECT_EQ(store().revoke(gate(), VisitorId::named("bob"), Revoke::now), 0U);
  EXPECT_EQ(store().revoke(gate(), std::nullopt, Revoke::now), 2U);
  EXPECT_EQ(store().revoke("unknown", std::nullopt, Revoke::now), 0U);
  EXPECT_THAT(holders(), IsEmpty());
}

TEST_P(StoreContract, ARevokedHolderThatAsksIsToldTheRestOfItsGrace) {
  enters("ann");
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  EXPECT_LASTS(repeats("ann").expires_in, 10'100ms);
}

TEST_P(StoreContract, ARevokedHandOverEndsWithItsGraceEvenIfItIsClaimed) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(store().revoke(gate(), std::nullopt, Revoke::graceful), 1U);
  (void)ask(visitor("bob"));
  after(10'100ms);
  enters("cid");
}

TEST_P(StoreContract, AClaimOfARevokedHandOverIsToldTheRestOfItsGrace) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  EXPECT_LASTS(enters("bob").expires_in, 10'100ms);
}

TEST_P(StoreContract, AHandOverAfterARevokedOneIsNotRevoked) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  after(1s);
  EXPECT_LASTS(enters("bob").expires_in, 30s);
  EXPECT_FALSE(look().holders.at(0).revoked);
}

// --- purge ---

TEST_P(StoreContract, APurgeForgetsEverything) {
  every_visitor.rate({.count = 1, .period = 1h});
  const Token ann = enters("ann").token;
  waits("bob");
  store().set_limit(gate(), 0);
  store().pause(gate(), 1h);
  store().pause(gate(), 1h, "health");
  EXPECT_TRUE(store().purge(gate()));
  EXPECT_FALSE(releases(ann));
  EXPECT_EQ(store().renew(ann, 1min), Renewal::gone);
  EXPECT_FALSE(leaves("bob"));
  enters("cid");
}

TEST_P(StoreContract, APurgeOfOneGateLeavesTheOthers) {
  enters(visitor("ann").at("one"));
  enters(visitor("ann").at("other"));
  EXPECT_TRUE(store().purge("one"));
  EXPECT_FALSE(store().purge("unknown"));
  EXPECT_THAT(holders("other"), ElementsAre("ann"));
}

}  // namespace
}  // namespace airlock::contract
