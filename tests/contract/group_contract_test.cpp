#include <string>
#include <vector>

#include "contract/support/store_contract.hpp"

// Law 8 at several gates of a group: all or nothing in one step; waiting in the first refusing
// line, called, not handed.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Group : public StoreContract {
 protected:
  // One visitor's question to gates of the group "g".
  GroupAnswer ask_all(const std::vector<Question>& questions) {
    std::vector<Request> requests;
    for (const auto& question : questions) requests.push_back(question.request());
    return store().admit_all(requests);
  }

  std::vector<Question> both(std::string_view name) const {
    return {visitor(name).at("g/one"), visitor(name).at("g/two")};
  }

  std::vector<Question> joining(std::string_view name) const {
    std::vector<Question> questions = both(name);
    for (auto& question : questions) question.joins();
    return questions;
  }

  // The answer is a place in the line of the gate at `index`.
  void expect_waits_at(std::size_t index, const GroupAnswer& answer) {
    EXPECT_FALSE(answer);
    EXPECT_TRUE(std::holds_alternative<Queued>(answer.because));
    EXPECT_EQ(answer.at, index);
    EXPECT_THAT(answer.granted, IsEmpty());
  }
};

TEST_P(Group, EntersAllGatesInOneStep) {
  const GroupAnswer answer = ask_all(both("ann"));
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer.granted.size(), 2U);
  EXPECT_EQ(answer.granted[0].token.gate, GateName("g/one"));
  EXPECT_EQ(answer.granted[1].token.gate, GateName("g/two"));
  EXPECT_GT(answer.granted[0].token.fence, 0U);
  EXPECT_GT(answer.granted[1].token.fence, 0U);
  EXPECT_THAT(holders("g/one"), ElementsAre("ann"));
  EXPECT_THAT(holders("g/two"), ElementsAre("ann"));
}

TEST_P(Group, EntersAllGatesForATokenOfEach) {
  every_visitor.rate({.count = 10, .period = 1h});
  const GroupAnswer answer = ask_all(both("ann"));
  ASSERT_TRUE(answer);
  for (const Granted& granted : answer.granted) {
    EXPECT_EQ(granted.taken, 1U);
    EXPECT_EQ(granted.rate.remaining, 9U);
  }
  ASSERT_TRUE(ask_all(both("ann")));
  EXPECT_EQ(look("g/one").rates.at(0).info.remaining, 9U);
  EXPECT_EQ(look("g/two").rates.at(0).info.remaining, 9U);
}

TEST_P(Group, ARefusingGateKeepsTheVisitorOutOfAll) {
  enters(visitor("ann").at("g/two").ttl(5s));
  const GroupAnswer answer = ask_all(both("bob"));
  EXPECT_FALSE(answer);
  EXPECT_EQ(answer.at, 1U);
  ASSERT_TRUE(std::holds_alternative<Refused>(answer.because));
  EXPECT_EQ(std::get<Refused>(answer.because).reason, Reason::full);
  EXPECT_LASTS(std::get<Refused>(answer.because).retry_after, 5s);
  EXPECT_THAT(holders("g/one"), IsEmpty());
  enters(visitor("cid").at("g/one"));
}

TEST_P(Group, ARefusingGateTakesNoTokenAnywhere) {
  every_visitor.rate({.count = 10, .period = 1h});
  enters(visitor("ann").at("g/two"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask_all(both("bob")).at, 1U);
  EXPECT_EQ(enters(visitor("cid").at("g/one")).rate.remaining, 9U);
  EXPECT_EQ(look("g/two").rates.at(0).info.remaining, 9U);
}

TEST_P(Group, ARefusingTierTakesNoSlotAnywhere) {
  const Rate hourly{.count = 1, .period = 1h};
  enters(visitor("ann").at("g/two").limit(5).rate(hourly));
  std::vector<Question> questions = both("bob");
  questions[1].limit(5).rate(hourly);
  const GroupAnswer answer = ask_all(questions);
  EXPECT_EQ(answer.at, 1U);
  ASSERT_TRUE(std::holds_alternative<Refused>(answer.because));
  EXPECT_EQ(std::get<Refused>(answer.because).reason, Reason::rate);
  EXPECT_THAT(holders("g/one"), IsEmpty());
  EXPECT_THAT(holders("g/two"), ElementsAre("ann"));
}

TEST_P(Group, ARetryFindsTheFirstAnswer) {
  const GroupAnswer first = ask_all(both("ann"));
  after(10s);
  const GroupAnswer again = ask_all(both("ann"));
  ASSERT_TRUE(first && again);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(again.granted[i].repeated);
    EXPECT_EQ(again.granted[i].token, first.granted[i].token);
    EXPECT_LASTS(again.granted[i].expires_in, 20s);
  }
}

TEST_P(Group, AGateAlreadyHeldStaysHeldWhateverTheOthersSay) {
  const Token one = enters(visitor("ann").at("g/one")).token;
  const Token bob = enters(visitor("bob").at("g/two")).token;
  EXPECT_EQ(ask_all(both("ann")).at, 1U);
  EXPECT_THAT(holders("g/one"), ElementsAre("ann"));
  EXPECT_TRUE(releases(bob));
  const GroupAnswer answer = ask_all(both("ann"));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer.granted[0].repeated);
  EXPECT_EQ(answer.granted[0].token, one);
  EXPECT_FALSE(answer.granted[1].repeated);
}

TEST_P(Group, ARetryWithOtherParametersChangesNothing) {
  ASSERT_TRUE(ask_all(both("ann")));
  const std::string before = describe(look("g/one"));
  std::vector<Question> questions = both("ann");
  for (auto& question : questions) question.limit(7).weight(3).ttl(1h);
  ASSERT_TRUE(ask_all(questions));
  EXPECT_EQ(describe(look("g/one")), before);
}

TEST_P(Group, EachGateIsReleasedByItself) {
  const GroupAnswer answer = ask_all(both("ann"));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(releases(answer.granted[0].token));
  EXPECT_THAT(holders("g/one"), IsEmpty());
  EXPECT_THAT(holders("g/two"), ElementsAre("ann"));
}

TEST_P(Group, APausedGateRefusesAll) {
  store().pause("g/two", 5s);
  const GroupAnswer answer = ask_all(both("ann"));
  EXPECT_EQ(answer.at, 1U);
  ASSERT_TRUE(std::holds_alternative<Refused>(answer.because));
  EXPECT_EQ(std::get<Refused>(answer.because).reason, Reason::paused);
  EXPECT_THAT(holders("g/one"), IsEmpty());
}

// --- waiting ---

TEST_P(Group, WaitsInTheFirstRefusingLineOnly) {
  enters(visitor("ann").at("g/one"));
  enters(visitor("ann").at("g/two"));
  expect_waits_at(0, ask_all(joining("bob")));
  EXPECT_THAT(line("g/one"), ElementsAre("bob"));
  EXPECT_THAT(line("g/two"), IsEmpty());
}

TEST_P(Group, IsCalledAtTheHeadAndNeverHanded) {
  const Token ann = enters(visitor("ann").at("g/one")).token;
  expect_waits_at(0, ask_all(joining("bob")));
  int calls = 0;
  ASSERT_TRUE(store().watch("g/one", VisitorId::named("bob"), [&] { ++calls; }));
  EXPECT_TRUE(releases(ann));
  deliver_calls();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(holders("g/one"), IsEmpty());
  EXPECT_THAT(line("g/one"), ElementsAre("bob"));
  ASSERT_TRUE(ask_all(joining("bob")));
  EXPECT_THAT(holders("g/one"), ElementsAre("bob"));
  EXPECT_THAT(holders("g/two"), ElementsAre("bob"));
  EXPECT_THAT(line("g/one"), IsEmpty());
}

TEST_P(Group, IsNotOvertakenWhileItIsCalled) {
  const Token ann = enters(visitor("ann").at("g/one")).token;
  expect_waits_at(0, ask_all(joining("bob")));
  EXPECT_TRUE(releases(ann));
  is_refused(visitor("cid").at("g/one"), Reason::full);
  EXPECT_EQ(waits(visitor("cid").at("g/one")).position, 2U);
  ASSERT_TRUE(ask_all(joining("bob")));
}

TEST_P(Group, ThatDoesNotComeWhenCalledHoldsNobodyUpForEver) {
  const Token ann = enters(visitor("ann").at("g/one")).token;
  expect_waits_at(0, ask_all(joining("bob")));
  EXPECT_TRUE(releases(ann));
  after(10s);
  enters(visitor("cid").at("g/one"));
}

TEST_P(Group, DoesNotOvertakeALine) {
  every_visitor.limit(2);
  enters(visitor("ann").at("g/one"));
  waits(visitor("bob").at("g/one").weight(2));
  const GroupAnswer answer = ask_all(both("cid"));
  EXPECT_EQ(answer.at, 0U);
  ASSERT_TRUE(std::holds_alternative<Refused>(answer.because));
  EXPECT_EQ(std::get<Refused>(answer.because).reason, Reason::full);
  expect_waits_at(0, ask_all(joining("dan")));
  std::vector<Question> barging = both("eve");
  for (auto& question : barging) question.barges();
  EXPECT_TRUE(ask_all(barging));
}

TEST_P(Group, WaitsInItsTurn) {
  const Token ann = enters(visitor("ann").at("g/one")).token;
  waits(visitor("bob").at("g/one"));
  const GroupAnswer cid = ask_all(joining("cid"));
  expect_waits_at(0, cid);
  EXPECT_EQ(std::get<Queued>(cid.because).position, 2U);
  EXPECT_TRUE(releases(ann));
  expect_waits_at(0, ask_all(joining("cid")));
  EXPECT_TRUE(releases(enters(visitor("bob").at("g/one")).token));
  ASSERT_TRUE(ask_all(joining("cid")));
}

TEST_P(Group, MovesToTheLineThatRefusesNow) {
  const Token ann = enters(visitor("ann").at("g/one")).token;
  expect_waits_at(0, ask_all(joining("bob")));
  const Token dan = enters(visitor("dan").at("g/two")).token;
  EXPECT_TRUE(releases(ann));
  expect_waits_at(1, ask_all(joining("bob")));
  EXPECT_THAT(line("g/one"), IsEmpty());
  EXPECT_THAT(line("g/two"), ElementsAre("bob"));
  enters(visitor("cid").at("g/one").ttl(1s));
  EXPECT_TRUE(releases(dan));
  after(1s);
  ASSERT_TRUE(ask_all(joining("bob")));
}

TEST_P(Group, ThatWasCalledIsToldToAsk) {
  const Token ann = enters(visitor("ann").at("g/one")).token;
  expect_waits_at(0, ask_all(joining("bob")));
  EXPECT_TRUE(releases(ann));
  EXPECT_FALSE(store().watch("g/one", VisitorId::named("bob"), [] {}));
}

TEST_P(Group, StillWaitsWhenItAsksWithoutJoining) {
  enters(visitor("ann").at("g/one"));
  expect_waits_at(0, ask_all(joining("bob")));
  after(6s);
  expect_waits_at(0, ask_all(both("bob")));
  after(6s);
  EXPECT_THAT(line("g/one"), ElementsAre("bob"));
}

TEST_P(Group, ChecksAgainWhenTheRateThatRefusedItAllows) {
  every_visitor.limit(5).rate({.count = 1, .period = 2s});
  enters(visitor("ann").at("g/one"));
  const GroupAnswer bob = ask_all(joining("bob"));
  expect_waits_at(0, bob);
  EXPECT_LASTS(std::get<Queued>(bob.because).next_check, 2s);
}

TEST_P(Group, ThatAsksForTheImpossibleIsToldWhereAndKeepsItsPlace) {
  every_visitor.rate({.count = 10, .period = 1h});
  const Token ann = enters(visitor("ann").at("g/one")).token;
  expect_waits_at(0, ask_all(joining("bob")));
  std::vector<Question> impossible = both("bob");
  EXPECT_TRUE(releases(ann));
  impossible[1].cost(11);
  const GroupAnswer answer = ask_all(impossible);
  EXPECT_EQ(answer.at, 1U);
  ASSERT_TRUE(std::holds_alternative<Refused>(answer.because));
  EXPECT_EQ(std::get<Refused>(answer.because).reason, Reason::never);
  EXPECT_EQ(std::get<Refused>(answer.because).retry_after, kForever);
  EXPECT_THAT(line("g/one"), ElementsAre("bob"));
  impossible[0].cost(11);
  EXPECT_EQ(ask_all(impossible).at, 0U);
  EXPECT_THAT(line("g/one"), ElementsAre("bob"));
  ASSERT_TRUE(ask_all(joining("bob")));
}

TEST_P(Group, ThatWasHandedASlotByOneGateClaimsItThere) {
  every_visitor.rate({.count = 10, .period = 1h});
  const Token ann = enters(visitor("ann").at("g/one")).token;
  waits(visitor("bob").at("g/one").cost(3));
  EXPECT_TRUE(releases(ann));
  const GroupAnswer answer = ask_all(both("bob"));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer.granted[0].repeated);
  EXPECT_EQ(answer.granted[0].taken, 3U);
  EXPECT_EQ(answer.granted[0].rate.remaining, 6U);
  EXPECT_LASTS(answer.granted[0].expires_in, 30s);
  EXPECT_EQ(answer.granted[1].taken, 1U);
}

TEST_P(Group, ThatWaitsAtEachOfItsGatesEntersAll) {
  const Token one = enters(visitor("ann").at("g/one")).token;
  const Token two = enters(visitor("ann").at("g/two")).token;
  waits(visitor("bob").at("g/one"));
  waits(visitor("bob").at("g/two"));
  EXPECT_TRUE(releases(one) && releases(two));
  after(1s);  // Both hand-overs lapse; its places are kept.
  const GroupAnswer answer = ask_all(both("bob"));
  ASSERT_TRUE(answer);
  for (const Granted& granted : answer.granted) EXPECT_TRUE(releases(granted.token));
  enters(visitor("bob").at("g/one"));
  enters(visitor("bob").at("g/two"));
}

TEST_P(Group, KeepsAWaitersLockALock) {
  store().set_limit("g/one", 2);
  enters(visitor("ann").at("g/one"));
  waits(visitor("bob").at("g/one").exclusive());
  expect_waits_at(0, ask_all(both("bob")));
  EXPECT_THAT(holders("g/one"), ElementsAre("ann"));
}

TEST_P(Group, AnotherKindOfAdmissionAtOneOfItsGatesChangesNothing) {
  every_visitor.rate({.count = 10, .period = 1h});
  enters(visitor("ann").at("g/two"));
  waits(visitor("bob").at("g/two"));
  std::vector<Question> questions = both("bob");
  questions[1].rate_only();
  EXPECT_THROW((void)ask_all(questions), InvalidArgument);
  EXPECT_FALSE(knows("g/one"));
  EXPECT_THAT(line("g/two"), ElementsAre("bob"));
}

TEST_P(Group, LeavesTheLineItWaitsIn) {
  const Token ann = enters(visitor("ann").at("g/one")).token;
  expect_waits_at(0, ask_all(joining("bob")));
  waits(visitor("cid").at("g/one"));
  EXPECT_TRUE(store().leave("g/one", VisitorId::named("bob")));
  EXPECT_FALSE(store().leave("g/two", VisitorId::named("bob")));
  EXPECT_TRUE(releases(ann));
  enters(visitor("cid").at("g/one"));
}

// --- what cannot be asked ---

TEST_P(Group, GatesOfDifferentGroupsCannotBeDecidedTogether) {
  EXPECT_THROW((void)ask_all({visitor("ann").at("g/one"), visitor("ann").at("h/two")}),
               InvalidArgument);
  EXPECT_THROW((void)ask_all({visitor("ann").at("one"), visitor("ann").at("two")}),
               InvalidArgument);
  EXPECT_FALSE(knows("g/one"));
  EXPECT_FALSE(knows("one"));
}

TEST_P(Group, SeveralVisitorsCannotAskTogether) {
  EXPECT_THROW((void)ask_all({visitor("ann").at("g/one"), visitor("bob").at("g/two")}),
               InvalidArgument);
  EXPECT_FALSE(knows("g/one"));
}

TEST_P(Group, AGateCannotBeAskedForTwice) {
  EXPECT_THROW((void)ask_all({visitor("ann").at("g/one"), visitor("ann").at("g/one")}),
               InvalidArgument);
  EXPECT_FALSE(knows("g/one"));
}

TEST_P(Group, NoGatesCannotBeAskedFor) {
  EXPECT_THROW((void)store().admit_all({}), InvalidArgument);
}

TEST_P(Group, ABadRequestAmongGoodOnesChangesNothing) {
  EXPECT_THROW((void)ask_all({visitor("ann").at("g/one"), visitor("ann").at("g/two").limit(0)}),
               InvalidArgument);
  EXPECT_FALSE(knows("g/one"));
}

TEST_P(Group, NothingIsRememberedForARetryByRateAlone) {
  const Question rated = visitor("ann").at("g/two").rate_only().rate({.count = 9, .period = 1s});
  EXPECT_THROW((void)ask_all({visitor("ann").at("g/one"), Question(rated).dedupe(1min)}),
               InvalidArgument);
  EXPECT_FALSE(knows("g/one"));
}

TEST_P(Group, AnotherOrderAtOneOfItsGatesChangesNothing) {
  enters(visitor("ann").at("g/two"));
  waits(visitor("bob").at("g/two"));
  std::vector<Question> questions = joining("cid");
  questions[1].order(Order::lottery);
  EXPECT_THROW((void)ask_all(questions), InvalidArgument);
  EXPECT_FALSE(knows("g/one"));
}

INSTANTIATE_TEST_SUITE_P(Stores, Group, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
