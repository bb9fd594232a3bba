#include <string>
#include <vector>

#include "contract/support/store_contract.hpp"

// Laws 3 and 4: a grant is state, and it comes in order.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- in order ---

TEST_P(StoreContract, AHundredWaitersAreServedInTheOrderOfTheirArrival) {
  Token holder = enters("first").token;
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(waits(std::to_string(i)).position, i + 1);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(releases(holder));
    ASSERT_THAT(handed(), ElementsAre(std::to_string(i)));
    holder = enters(std::to_string(i)).token;
  }
}

TEST_P(StoreContract, NobodyOvertakesTheLine) {
  every_visitor.limit(2);
  enters("ann");
  waits(visitor("bob").weight(2));
  is_refused("cid", Reason::full);
  EXPECT_EQ(waits("dan").position, 2U);
}

TEST_P(StoreContract, ABargingVisitorEntersWhereThereIsRoom) {
  every_visitor.limit(2);
  enters("ann");
  waits(visitor("bob").weight(2));
  enters(visitor("cid").barges());
  is_refused(visitor("dan").barges(), Reason::full);
  EXPECT_EQ(waits(visitor("eve").barges()).position, 2U);
}

TEST_P(StoreContract, ThreeFreeSlotsAdmitThreeWaitersInOneStep) {
  every_visitor.limit(3);
  const Token ann = enters(visitor("ann").weight(3)).token;
  waits("bob");
  waits("cid");
  waits("dan");
  waits("eve");
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), ElementsAre("bob", "cid", "dan"));
  EXPECT_THAT(line(), ElementsAre("eve"));
  enters("dan");
  enters("bob");
  enters("cid");
}

TEST_P(StoreContract, WhoeverAsksAfterHoldersExpiredServesTheWholeLine) {
  every_visitor.limit(2);
  enters(visitor("ann").ttl(1s));
  enters(visitor("bob").ttl(1s));
  waits("cid");
  waits("dan");
  after(1s);
  is_refused("eve", Reason::full);
  EXPECT_THAT(handed(), ElementsAre("cid", "dan"));
}

TEST_P(StoreContract, AHeavyHeadIsNotStarvedByLightFollowers) {
  every_visitor.limit(2);
  const Token ann = enters("ann").token;
  const Token bob = enters("bob").token;
  waits(visitor("heavy").weight(2));
  waits("light");
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), IsEmpty());
  EXPECT_TRUE(releases(bob));
  EXPECT_THAT(handed(), ElementsAre("heavy"));
  EXPECT_TRUE(releases(enters("heavy").token));
  EXPECT_THAT(handed(), ElementsAre("light"));
}

TEST_P(StoreContract, AHeadThatLeavesLetsItsFollowersIn) {
  every_visitor.limit(3);
  enters("ann");
  waits(visitor("heavy").weight(3));
  waits("bob");
  waits("cid");
  waits("dan");
  EXPECT_TRUE(leaves("heavy"));
  EXPECT_THAT(handed(), ElementsAre("bob", "cid"));
}

TEST_P(StoreContract, AHeadWithoutPatienceLetsItsFollowersIn) {
  every_visitor.limit(2);
  enters("ann");
  waits(visitor("heavy").weight(2).patience(2s));
  waits("bob");
  after(2s);
  enters("bob");
  EXPECT_EQ(look().counters.abandoned, 1U);
}

TEST_P(StoreContract, AHeadThatARateRefusesKeepsItsPlace) {
  every_visitor.limit(5).rate({.count = 1, .period = 2s});
  enters("ann");
  const Queued bob = waits("bob");
  EXPECT_EQ(bob.position, 1U);
  EXPECT_LASTS(bob.next_check, 2s);
  is_refused("cid", Reason::full);
  is_refused(visitor("cid").rates({}), Reason::full);
  after(1s);
  EXPECT_LASTS(waits("bob").next_check, 1s);
  after(1s);
  enters("bob");
}

// --- a grant is state ---

TEST_P(StoreContract, AHandOverHoldsItsPlaceBeforeAnyoneIsTold) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(look().counts, (GateCounts{.in_use = 1, .limit = 1, .holders = 1, .waiting = 0}));
  is_refused("cid", Reason::full);
}

TEST_P(StoreContract, ALostCallCostsOneReCheck) {
  enters(visitor("ann").ttl(1s));
  after(waits("bob").next_check);
  enters("bob");
}

TEST_P(StoreContract, AnUnclaimedHandOverGoesToTheNext) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  EXPECT_TRUE(releases(ann));
  after(1s);
  enters("cid");
  EXPECT_THAT(line(), ElementsAre("bob"));
  EXPECT_EQ(look().counters.missed, 1U);
}

TEST_P(StoreContract, AHandOverMayBeReleasedByItsFence) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  EXPECT_TRUE(releases(ann));
  Token bob{store().id(), gate(), VisitorId::named("bob"), look().holders.at(0).fence};
  EXPECT_TRUE(releases(bob));
  EXPECT_THAT(handed(), ElementsAre("cid"));
}

TEST_P(StoreContract, AHandOverCannotBeRenewed) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  const Token bob{store().id(), gate(), VisitorId::named("bob"), look().holders.at(0).fence};
  EXPECT_EQ(store().renew(bob, 1min), Renewal::gone);
  after(1s);
  enters("cid");
}

TEST_P(StoreContract, AHandOverOutlivesPatience) {
  const Token ann = enters("ann").token;
  waits(visitor("bob").patience(3s));
  after(2500ms);
  EXPECT_TRUE(releases(ann));
  after(900ms);
  enters("bob");
}

// --- leaving ---

TEST_P(StoreContract, LeavingShiftsThoseBehind) {
  enters("ann");
  waits("bob");
  waits("cid");
  waits("dan");
  EXPECT_TRUE(leaves("cid"));
  EXPECT_EQ(waits("bob").position, 1U);
  EXPECT_EQ(waits("dan").position, 2U);
  EXPECT_EQ(waits("dan").waiting, 2U);
}

TEST_P(StoreContract, OneWhoDoesNotWaitCannotLeave) {
  enters("ann");
  EXPECT_FALSE(leaves("ann"));
  EXPECT_FALSE(leaves("bob"));
  EXPECT_FALSE(store().leave("unknown", VisitorId::named("bob")));
  EXPECT_THAT(holders(), ElementsAre("ann"));
  waits("bob");
  EXPECT_TRUE(leaves("bob"));
  EXPECT_FALSE(leaves("bob"));
}

TEST_P(StoreContract, LeavingAHandOverPassesItOn) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  EXPECT_TRUE(releases(ann));
  EXPECT_TRUE(leaves("bob"));
  EXPECT_THAT(handed(), ElementsAre("cid"));
  EXPECT_THAT(line(), IsEmpty());
}

TEST_P(StoreContract, PatienceEndsToTheMicrosecond) {
  enters("ann");
  waits(visitor("bob").patience(5s));
  after(5s - 1us);
  EXPECT_THAT(line(), ElementsAre("bob"));
  after(1us);
  EXPECT_THAT(line(), IsEmpty());
  EXPECT_FALSE(leaves("bob"));
  EXPECT_EQ(look().counters.abandoned, 1U);
}

// --- the bounds of a line ---

TEST_P(StoreContract, ALineCanBeFull) {
  every_visitor.max_waiting(2);
  enters("ann");
  waits("bob");
  waits("cid");
  EXPECT_GT(is_refused(visitor("dan").joins(), Reason::line_full).retry_after, 0s);
  waits("bob");
  EXPECT_TRUE(leaves("bob"));
  waits("dan");
}

TEST_P(StoreContract, AHandOverDoesNotCountAsWaiting) {
  every_visitor.max_waiting(1);
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(waits("cid").waiting, 1U);
}

TEST_P(StoreContract, TheOrderBelongsToALineThatIsNotEmpty) {
  enters("ann");
  waits("bob");
  EXPECT_THROW((void)ask(visitor("cid").order(Order::lottery).joins()), InvalidArgument);
  EXPECT_THAT(line(), ElementsAre("bob"));
  EXPECT_TRUE(leaves("bob"));
  waits(visitor("cid").order(Order::lottery));
  EXPECT_EQ(look().order, Order::lottery);
}

// --- many questions at once ---

AdmitItem question(std::string_view gate, std::string_view name) {
  return {{.gate = gate,
           .visitor = VisitorId::named(name),
           .permits = Permits{.limit = 1, .ttl = 10s},
           .line = {.join = true}}};
}

TEST_P(StoreContract, ManyQuestionsAreAnsweredInTheirOrder) {
  std::vector<AdmitItem> items = {question("a", "ann"), question("b", "bob"), question("a", "cid"),
                                  question("a", "dan"), question("b", "eve")};
  store().admit_each(items);
  EXPECT_TRUE(std::holds_alternative<Granted>(items[0].answer.value()));
  EXPECT_TRUE(std::holds_alternative<Granted>(items[1].answer.value()));
  EXPECT_EQ(std::get<Queued>(items[2].answer.value()).position, 1U);
  EXPECT_EQ(std::get<Queued>(items[3].answer.value()).position, 2U);
  EXPECT_EQ(std::get<Queued>(items[4].answer.value()).position, 1U);
}

TEST_P(StoreContract, ManyQuestionsFailOneByOne) {
  std::vector<AdmitItem> items = {question("a", "ann"), question("a", "bob"), question("a", "cid")};
  items[1].request.permits->limit = 0;
  store().admit_each(items);
  EXPECT_TRUE(std::holds_alternative<Granted>(items[0].answer.value()));
  EXPECT_THROW(std::rethrow_exception(items[1].failure), InvalidArgument);
  EXPECT_FALSE(items[1].answer);
  EXPECT_EQ(std::get<Queued>(items[2].answer.value()).position, 1U);
}

}  // namespace
}  // namespace airlock::contract
