#include <cstdint>

#include "contract/support/store_contract.hpp"

// Law 8 at one gate: permits and any number of tiers, all or nothing.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Rate kHourly{.count = 10, .period = 1h};

class Composite : public StoreContract {
 protected:
  // What is left of `rate`.
  std::uint32_t remaining(const Rate& rate = kHourly) {
    for (const auto& tier : look().rates)
      if (tier.rate == rate) return tier.info.remaining;
    return rate.count;
  }
};

TEST_P(Composite, AGrantTakesASlotAndATokenOfEachTier) {
  const Rate daily{.count = 20, .period = 24h};
  const Granted ann = enters(visitor("ann").rate(kHourly).rate(daily));
  EXPECT_GT(ann.token.fence, 0U);
  EXPECT_EQ(ann.taken, 1U);
  EXPECT_EQ(remaining(kHourly), 9U);
  EXPECT_EQ(remaining(daily), 19U);
  EXPECT_THAT(holders(), ElementsAre("ann"));
}

TEST_P(Composite, AFullGateTakesNoToken) {
  every_visitor.rate(kHourly);
  enters("ann");
  for (int i = 0; i < 20; ++i) is_refused("bob", Reason::full);
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, ARefusingTierTakesNoSlotAndNoOtherToken) {
  every_visitor.limit(5).rate(kHourly).rate({.count = 1, .period = 24h});
  enters("ann");
  for (int i = 0; i < 20; ++i) is_refused("bob", Reason::rate);
  EXPECT_EQ(remaining(), 9U);
  EXPECT_THAT(holders(), ElementsAre("ann"));
}

TEST_P(Composite, ACostAboveTheBurstTakesNoSlot) {
  is_refused(visitor("ann").rate(kHourly).cost(11), Reason::never);
  EXPECT_FALSE(knows(gate()) && look().counts.in_use > 0);
  enters("bob");
}

TEST_P(Composite, ThePauseOfAGateTakesNoToken) {
  every_visitor.rate(kHourly);
  enters("ann");
  store().pause(gate(), 1s);
  for (int i = 0; i < 20; ++i) is_refused("bob", Reason::paused);
  after(1s);
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, AReleaseGivesNoTokenBack) {
  every_visitor.rate(kHourly);
  EXPECT_TRUE(releases(enters("ann").token));
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, ARenewalTakesNoToken) {
  every_visitor.rate(kHourly);
  EXPECT_EQ(store().renew(enters("ann").token, 1min), Renewal::renewed);
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, AnExpiryGivesNoTokenBack) {
  enters(visitor("ann").rate(kHourly).ttl(1us));
  after(1us);
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, AWaiterIsNotChargedWhileItWaits) {
  every_visitor.rate(kHourly);
  enters("ann");
  for (int i = 0; i < 20; ++i) waits("bob");
  EXPECT_EQ(remaining(), 9U);
  EXPECT_TRUE(leaves("bob"));
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, AHandOverIsChargedOnce) {
  every_visitor.rate(kHourly);
  const Token ann = enters("ann").token;
  waits(visitor("bob").cost(3));
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(remaining(), 6U);
  EXPECT_EQ(enters(visitor("bob").cost(3)).taken, 3U);
  EXPECT_EQ(remaining(), 6U);
}

TEST_P(Composite, AHandOverThatLapsesGivesItsTokensBack) {
  every_visitor.rate(kHourly);
  const Token ann = enters("ann").token;
  waits(visitor("bob").cost(3));
  EXPECT_TRUE(releases(ann));
  after(1s);
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, LeavingAHandOverGivesItsTokensBack) {
  every_visitor.rate(kHourly);
  const Token ann = enters("ann").token;
  waits(visitor("bob").cost(3));
  EXPECT_TRUE(releases(ann));
  EXPECT_TRUE(leaves("bob"));
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, ReleasingAHandOverByItsFenceGivesItsTokensBack) {
  every_visitor.rate(kHourly);
  const Token ann = enters("ann").token;
  waits(visitor("bob").cost(3));
  EXPECT_TRUE(releases(ann));
  const Fence fence = look().holders.at(0).fence;
  EXPECT_TRUE(releases({store().id(), gate(), VisitorId::named("bob"), fence}));
  EXPECT_THAT(holders(), IsEmpty());
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, AHandOverIsClaimedWithoutItsRatesAndStaysCharged) {
  every_visitor.rate(kHourly);
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  const Granted bob = enters(visitor("bob").rates({}));
  EXPECT_EQ(bob.taken, 1U);
  EXPECT_THAT(holders(), ElementsAre("bob"));
  EXPECT_EQ(remaining(), 8U);
}

TEST_P(Composite, RevokingAHandOverAtOnceGivesItsTokensBack) {
  every_visitor.rate(kHourly);
  const Token ann = enters("ann").token;
  waits(visitor("bob").cost(3));
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(store().revoke(gate(), VisitorId::named("bob"), Revoke::now), 1U);
  EXPECT_THAT(holders(), IsEmpty());
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, RevokingAHolderAtOnceGivesNoTokenBack) {
  enters(visitor("ann").rate(kHourly));
  EXPECT_EQ(store().revoke(gate(), std::nullopt, Revoke::now), 1U);
  EXPECT_EQ(remaining(), 9U);
}

TEST_P(Composite, TheTokensOfALapsedHandOverLetTheNextIn) {
  every_visitor.rate({.count = 2, .period = 1h});
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  EXPECT_TRUE(releases(ann));
  after(1s);
  enters("cid");
}

TEST_P(Composite, AFreedSlotIsNotHandedToAHeadWithoutTokens) {
  every_visitor.limit(2).rate({.count = 1, .period = 5s});
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), IsEmpty());
  after(5s);
  enters("bob");
}

TEST_P(Composite, FollowersWithoutRatesWaitForAHeadWithoutTokens) {
  every_visitor.limit(2);
  const Token ann = enters(visitor("ann").rate({.count = 1, .period = 5s})).token;
  waits(visitor("bob").rate({.count = 1, .period = 5s}));
  waits("cid");
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), IsEmpty());
  EXPECT_THAT(line(), ElementsAre("bob", "cid"));
}

TEST_P(Composite, WhoJoinsBehindAHeadWithoutTokensAsksWhenThereMayBeSome) {
  constexpr Rate kSlow{.count = 1, .period = 10s};
  every_visitor.limit(2).ttl(1h).patience(1h);
  enters(visitor("ann").rate(kSlow));
  EXPECT_LASTS(waits(visitor("bob").rate(kSlow)).next_check, 10s);
  EXPECT_LASTS(waits(visitor("cid").limit(1)).next_check, 10s + 50ms);
}

TEST_P(Composite, OneStepHandsOverOnlyAsManyAsTheRateAllows) {
  every_visitor.limit(3).rate({.count = 3, .period = 1h});
  const Token ann = enters(visitor("ann").weight(3)).token;
  waits("bob");
  waits("cid");
  waits("dan");
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), ElementsAre("bob", "cid"));
  EXPECT_THAT(line(), ElementsAre("dan"));
}

TEST_P(Composite, AWaiterIsToldHowTheRateStands) {
  every_visitor.limit(5).rate({.count = 1, .period = 2s});
  enters("ann");
  const RateInfo info = waits("bob").rate;
  EXPECT_EQ(info.limit, 1U);
  EXPECT_EQ(info.remaining, 0U);
  EXPECT_LASTS(info.retry_after, 2s);
}

TEST_P(Composite, ARateThatNobodyWaitsForAnyMoreHurriesNobody) {
  every_visitor.limit(2);
  enters(visitor("ann").rate({.count = 1, .period = 5s}));
  waits(visitor("bob").rate({.count = 1, .period = 5s}));
  EXPECT_TRUE(leaves("bob"));
  after(6s);
  enters("cid");
  EXPECT_LASTS(is_refused("dan", Reason::full).retry_after, 24s);
}

TEST_P(Composite, WindowsAreChargedAndRefundedAlike) {
  for (const auto algorithm : {Rate::Algorithm::sliding_window, Rate::Algorithm::fixed_window}) {
    const Rate window{.count = 10, .period = 1h, .algorithm = algorithm};
    every_visitor.at("gate" + std::to_string(static_cast<int>(algorithm)));
    every_visitor.rates({window});
    until_multiple_of(1h);
    const Token ann = enters("ann").token;
    for (int i = 0; i < 5; ++i) is_refused("cid", Reason::full);
    waits("bob");
    EXPECT_TRUE(releases(ann));
    EXPECT_EQ(remaining(window), 8U);
    after(1s);
    EXPECT_EQ(remaining(window), 9U);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, Composite, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
