#include <array>
#include <string>
#include <vector>

#include "contract/support/store_contract.hpp"

// What operators see: look, counts, list, counters.

namespace airlock::contract {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(StoreContract, AnUnknownGateIsUnknown) {
  EXPECT_FALSE(knows("unknown"));
  EXPECT_THAT(store().list(), IsEmpty());
  EXPECT_FALSE(knows("unknown"));
}

TEST_P(StoreContract, LookShowsWhoHolds) {
  const Granted ann = enters(visitor("ann").limit(4).weight(2).detached());
  after(3s);
  const Granted bob = enters(visitor("bob").limit(4));
  after(2s);
  const GateView view = look();
  EXPECT_EQ(view.name, "gate");
  EXPECT_EQ(view.counts, (GateCounts{.in_use = 3, .limit = 4, .holders = 2, .waiting = 0}));
  EXPECT_EQ(view.last_fence, bob.token.fence);
  ASSERT_EQ(view.holders.size(), 2U);
  const HolderView& first = view.holders[0];
  EXPECT_EQ(first.visitor, VisitorId::named("ann"));
  EXPECT_EQ(first.label, "ann");
  EXPECT_EQ(first.fence, ann.token.fence);
  EXPECT_EQ(first.weight, 2U);
  EXPECT_LASTS(first.age, 5s);
  EXPECT_LASTS(first.remaining, 25s);
  EXPECT_TRUE(first.claimed);
  EXPECT_FALSE(first.revoked);
  EXPECT_EQ(first.hold, Hold::detached);
  EXPECT_EQ(view.holders[1].slot, bob.slot);
  EXPECT_LASTS(view.holders[1].age, 2s);
}

TEST_P(StoreContract, LookShowsTheAgeOfALeaseHoweverOftenItWasRenewed) {
  const Token ann = enters("ann").token;
  after(20s);
  EXPECT_EQ(store().renew(ann, 30s), Renewal::renewed);
  EXPECT_LASTS(look().holders.at(0).age, 20s);
}

TEST_P(StoreContract, LookShowsWhoWaits) {
  every_visitor.order(Order::priority);
  enters(visitor("ann").limit(2).weight(2));
  waits(visitor("bob").limit(2).priority(3));
  after(2s);
  waits(visitor("cid").limit(2).weight(2).priority(7).detached());
  const GateView view = look();
  EXPECT_EQ(view.order, Order::priority);
  EXPECT_EQ(view.counts.waiting, 2U);
  ASSERT_EQ(view.line.size(), 2U);
  EXPECT_EQ(view.line[0].visitor, VisitorId::named("cid"));
  EXPECT_EQ(view.line[0].label, "cid");
  EXPECT_EQ(view.line[0].weight, 2U);
  EXPECT_EQ(view.line[0].priority, 7U);
  EXPECT_EQ(view.line[0].hold, Hold::detached);
  EXPECT_EQ(view.line[1].label, "bob");
  EXPECT_LASTS(view.line[1].waited, 2s);
  EXPECT_TRUE(view.line[1].present);
}

TEST_P(StoreContract, AVisitorWithoutALabelHasADefaultOne) {
  Question ann = visitor("ann");
  Request request = ann.request();
  request.label = {};
  ASSERT_TRUE(std::holds_alternative<Granted>(store().admit(request)));
  EXPECT_FALSE(look().holders.at(0).label.empty());
}

TEST_P(StoreContract, LookLeavesOutWhatHasEnded) {
  every_visitor.limit(2);
  enters(visitor("ann").ttl(1s));
  enters(visitor("bob").ttl(1s));
  store().pause(gate(), 1s);
  after(1s);
  EXPECT_THAT(holders(), IsEmpty());
  EXPECT_THAT(look().pauses, IsEmpty());
  EXPECT_EQ(look().counts.in_use, 0U);
}

TEST_P(StoreContract, LookAsksAndChangesNothing) {
  every_visitor.rate({.count = 10, .period = 1h});
  enters("ann");
  waits("bob");
  const std::string before = describe(look());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(describe(look()), before);
  (void)store().counts(std::array<GateName, 1>{gate()});
  (void)store().list();
  EXPECT_EQ(describe(look()), before);
}

TEST_P(StoreContract, CountsComeInTheOrderAsked) {
  enters(visitor("ann").at("one").limit(5).weight(3));
  enters(visitor("ann").at("two"));
  waits(visitor("bob").at("two"));
  const std::vector<GateName> names = {"two", "unknown", "one", "two"};
  const GateCounts one{.in_use = 3, .limit = 5, .holders = 1, .waiting = 0};
  const GateCounts two{.in_use = 1, .limit = 1, .holders = 1, .waiting = 1};
  EXPECT_THAT(store().counts(names), ElementsAre(two, GateCounts{}, one, two));
  EXPECT_THAT(store().counts({}), IsEmpty());
  EXPECT_FALSE(knows("unknown"));
}

TEST_P(StoreContract, ALockIsSeenToBeOne) {
  const std::array<GateName, 1> names = {gate()};
  enters(visitor("ann").limit(8).weight(8).exclusive());
  EXPECT_TRUE(look().counts.exclusive);
  EXPECT_TRUE(store().counts(names).at(0).exclusive);
  store().set_limit(gate(), 3);
  EXPECT_TRUE(look().counts.exclusive);
  EXPECT_TRUE(store().purge(gate()));
  EXPECT_FALSE(look().counts.exclusive);
  EXPECT_FALSE(store().counts(names).at(0).exclusive);
  enters(visitor("ann").limit(8));
  EXPECT_FALSE(look().counts.exclusive);
}

TEST_P(StoreContract, CountsLeaveOutWhatHasExpired) {
  enters(visitor("ann").ttl(1s));
  after(1s);
  const auto counts = store().counts(std::array<GateName, 1>{gate()});
  EXPECT_EQ(counts.at(0).in_use, 0U);
  EXPECT_EQ(counts.at(0).holders, 0U);
}

TEST_P(StoreContract, TheListIsSorted) {
  std::vector<std::string> names;
  for (int i = 100; i < 200; ++i) names.push_back("gate:" + std::to_string(i));
  for (auto name = names.rbegin(); name != names.rend(); ++name) enters(visitor("ann").at(*name));
  EXPECT_EQ(store().list(), names);
}

TEST_P(StoreContract, ALeaseIsHeldUntilItEnds) {
  const Token ann = enters(visitor("ann").ttl(10s)).token;
  waits("bob");
  EXPECT_TRUE(store().holds(ann));
  Token other = ann;
  ++other.fence;
  EXPECT_FALSE(store().holds(other));
  other = ann;
  other.visitor = VisitorId::named("bob");
  EXPECT_FALSE(store().holds(other));
  other.gate = "unknown";
  EXPECT_FALSE(store().holds(other));
  after(10s);
  EXPECT_FALSE(store().holds(ann)) << "before anybody else has asked, too";
  EXPECT_FALSE(knows("unknown"));
}

TEST_P(StoreContract, WhatWasHandedOverIsHeldUntilItIsMissed) {
  const Token ann = enters("ann").token;
  waits(visitor("bob").claim_window(2s));
  EXPECT_TRUE(releases(ann));
  EXPECT_FALSE(store().holds(ann));
  const Token bob{store().id(), gate(), VisitorId::named("bob"), look().holders.at(0).fence};
  EXPECT_TRUE(store().holds(bob));
  after(2s);
  EXPECT_FALSE(store().holds(bob));
}

TEST_P(StoreContract, HoldingRefusesTheTokenOfAnotherStore) {
  Token ann = enters("ann").token;
  ann.store ^= 1;
  EXPECT_THROW((void)store().holds(ann), InvalidArgument);
}

TEST_P(StoreContract, ASurveyTellsOfEveryGateButNotWhoIsThere) {
  enters(visitor("ann").at("busy").limit(5).weight(3));
  enters(visitor("bob").at("busy").limit(5));
  waits(visitor("cid").at("busy").limit(5).weight(5));
  enters(visitor("ann").at("lock").exclusive());
  enters(visitor("ann").at("rated").rate({.count = 10, .period = 1h}));
  store().pause("paused", 1min, "monitor");
  store().set_limit("limited", 7);
  const std::vector<GateSummary> all = store().survey();
  ASSERT_THAT(all, ::testing::SizeIs(5));
  for (const GateSummary& summary : all) {
    GateView whole = look(summary.gate.name);
    whole.line.clear();
    if (whole.name != "lock") whole.holders.clear();
    EXPECT_EQ(describe(summary.gate), describe(whole));
    EXPECT_EQ(summary.unreadable, "");
  }
  EXPECT_EQ(all[0].gate.name, "busy");
  EXPECT_EQ(all[2].gate.holders.at(0).label, "ann") << "whose lock it is";
  const auto some = store().survey([](std::string_view gate) { return gate.starts_with("l"); });
  ASSERT_THAT(some, ::testing::SizeIs(2));
  EXPECT_EQ(some[0].gate.override_limit, 7U);
}

TEST_P(StoreContract, ASurveyLeavesOutWhatHasRunOut) {
  every_visitor.limit(3);
  enters(visitor("ann").ttl(1s).weight(2));
  enters(visitor("bob"));
  store().pause(gate(), 2s);
  waits(visitor("cid").patience(1s));
  store().pause("other", 1s);
  after(1s);
  const GateView view = store().survey().at(0).gate;
  EXPECT_EQ(view.counts, (GateCounts{.in_use = 1, .limit = 3, .holders = 1, .waiting = 0}));
  EXPECT_EQ(view.counters.expired, 1U);
  EXPECT_EQ(view.counters.abandoned, 1U);
  EXPECT_EQ(store().survey().at(1).gate.pauses.size(), 0U);
}

// --- counters ---

TEST_P(StoreContract, CountersCountGrantsOnce) {
  every_visitor.limit(2);
  enters("ann");
  repeats("ann");
  enters("bob");
  EXPECT_EQ(look().counters.granted, 2U);
}

TEST_P(StoreContract, CountersCountAHandOverOnce) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  enters("bob");
  repeats("bob");
  EXPECT_EQ(look().counters.granted, 2U);
}

TEST_P(StoreContract, CountersCountRefusalsByReason) {
  every_visitor.limit(2);
  const auto refused = [&](Reason reason) {
    return look().counters.refused.at(static_cast<std::size_t>(reason));
  };
  enters(visitor("ann").rate({.count = 1, .period = 1h}));
  is_refused(visitor("bob").rate({.count = 1, .period = 1h}), Reason::rate);
  is_refused(visitor("bob").rate({.count = 1, .period = 1h}), Reason::rate);
  is_refused(visitor("bob").rate({.count = 1, .period = 1h}).cost(2), Reason::never);
  enters("bob");
  is_refused("cid", Reason::full);
  waits("cid");
  is_refused(visitor("dan").max_waiting(1).joins(), Reason::line_full);
  store().pause(gate(), 1s);
  is_refused("eve", Reason::paused);
  EXPECT_EQ(refused(Reason::rate), 2U);
  EXPECT_EQ(refused(Reason::never), 1U);
  EXPECT_EQ(refused(Reason::full), 1U);
  EXPECT_EQ(refused(Reason::line_full), 1U);
  EXPECT_EQ(refused(Reason::paused), 1U);
  EXPECT_EQ(refused(Reason::late), 0U);
}

TEST_P(StoreContract, CountersCountWhatEndedAndHow) {
  every_visitor.limit(2);
  enters(visitor("ann").ttl(1s));
  const Token bob = enters("bob").token;
  after(1s);
  EXPECT_EQ(look().counters.expired, 1U);
  EXPECT_TRUE(releases(bob));
  EXPECT_EQ(look().counters.expired, 1U);
  EXPECT_EQ(look().counters.revoked, 0U);
  EXPECT_EQ(look().counters.missed, 0U);
  EXPECT_EQ(look().counters.abandoned, 0U);
}

TEST_P(StoreContract, CountersCountThoseWhoGaveUp) {
  enters("ann");
  waits("bob");
  waits(visitor("cid").patience(1s));
  EXPECT_TRUE(leaves("bob"));
  after(1s);
  EXPECT_EQ(look().counters.abandoned, 2U);
}

TEST_P(StoreContract, CountersKnowHowLongVisitorsWaited) {
  const Token ann = enters("ann").token;
  waits("bob");
  after(3s);
  EXPECT_TRUE(releases(ann));
  enters("bob");
  const Counters counters = look().counters;
  EXPECT_LASTS(counters.wait_sum, 3s);
  EXPECT_EQ(counters.waits.at(7), 1U) << "the bucket from one to five seconds";
}

TEST_P(StoreContract, CountersPutAWaitOfExactlyABoundBelowIt) {
  const Token ann = enters("ann").token;
  waits("bob");
  after(5s);
  EXPECT_TRUE(releases(ann));
  enters("bob");
  EXPECT_EQ(look().counters.waits.at(7), 1U) << "bounds are upper bounds";
}

TEST_P(StoreContract, CountersPutWhateverIsAboveTheLastBoundInTheLastBucket) {
  every_visitor.ttl(1h).patience(1h).claim_window(1h);
  const std::vector<Rate> rate = {{.count = 10, .period = 1s}};
  for (const auto& [rates, count] : {std::pair(std::vector<Rate>(), 1U), std::pair(rate, 2U)}) {
    every_visitor.rates(rates);
    const Token ann = enters("ann").token;
    waits("bob");
    after(10min);
    EXPECT_TRUE(releases(ann));
    EXPECT_TRUE(releases(enters("bob").token));
    EXPECT_EQ(look().counters.waits.back(), count);
  }
}

}  // namespace
}  // namespace airlock::contract
