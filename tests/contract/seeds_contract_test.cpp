#include <string>
#include <vector>

#include "airlock/testing.hpp"
#include "contract/support/store_contract.hpp"

// The scenarios of the systems this one started from, where they mean a store, with their numbers.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Seeds : public StoreContract {
 protected:
  bool is_acquired(const Token& token) {
    for (const auto& holder : look(token.gate).holders)
      if (holder.visitor == token.visitor && holder.fence == token.fence) return true;
    return false;
  }
};

// --- seals ---

// Scenario 1.
TEST_P(Seeds, TwoOfTwoEnterAndTheThirdDoesNot) {
  every_visitor.limit(2);
  const Token ann = enters("ann").token;
  const Token bob = enters("bob").token;
  is_refused("cid", Reason::full);
  EXPECT_TRUE(is_acquired(ann));
  EXPECT_TRUE(is_acquired(bob));
}

// Scenario 2.
TEST_P(Seeds, AReleasedTokenIsNoLongerAcquired) {
  every_visitor.limit(2);
  const Token ann = enters("ann").token;
  enters("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_FALSE(is_acquired(ann));
  enters("cid");
}

// Scenario 3.
TEST_P(Seeds, AnExpiredTokenIsNotAcquiredEvenBeforeItsPlaceIsTaken) {
  const Token ann = enters(visitor("ann").ttl(1s)).token;
  after(1s);
  EXPECT_FALSE(is_acquired(ann));
  enters("bob");
}

// Scenarios 4 and 94.
TEST_P(Seeds, ARenewalKeepsTheLock) {
  const Token ann = enters(visitor("ann").ttl(1s).exclusive()).token;
  EXPECT_EQ(store().renew(ann, 10s), Renewal::renewed);
  EXPECT_TRUE(is_acquired(ann));
  EXPECT_LASTS(look().holders.at(0).remaining, 10s);
  is_refused(visitor("bob").exclusive(), Reason::full);
}

// Scenario 5.
TEST_P(Seeds, AWipedStoreCannotRenew) {
  const Token ann = enters("ann").token;
  EXPECT_TRUE(store().purge(gate()));
  EXPECT_EQ(store().renew(ann, 10s), Renewal::gone);
}

// Scenario 8.
TEST_P(Seeds, AFailingStoreIsAnErrorAndNeverFull) {
  airlock::testing::FaultyStore faulty(store());
  faulty.fail_next(1, StoreError::Kind::unavailable);
  EXPECT_THROW((void)faulty.admit(visitor("ann").request()), StoreError);
  EXPECT_FALSE(knows(gate()));
}

// Scenario 8.
TEST_P(Seeds, ALostReplyIsFoundByAskingAgain) {
  every_visitor.rate({.count = 2, .period = 1h});
  airlock::testing::FaultyStore faulty(store());
  faulty.drop_reply_next(1);
  EXPECT_THROW((void)faulty.admit(visitor("ann").request()), StoreError);
  const Granted ann = repeats("ann");
  EXPECT_TRUE(releases(ann.token));
  enters("bob");
}

// Scenario 10.
TEST_P(Seeds, TwoOfWeightTwoFitIntoFour) {
  every_visitor.limit(4).weight(2);
  const Token ann = enters("ann").token;
  enters("bob");
  is_refused("cid", Reason::full);
  EXPECT_TRUE(releases(ann));
  enters("cid");
}

// Scenarios 11 and 104.
TEST_P(Seeds, TheSameVisitorTakesOneSlotHoweverOftenItAsks) {
  every_visitor.limit(3);
  enters("ann");
  repeats("ann");
  repeats("ann");
  EXPECT_EQ(look().counts.in_use, 1U);
}

// Scenario 12.
TEST_P(Seeds, DeletingOneResourceLeavesTheOther) {
  enters(visitor("ann").at("one"));
  const Token other = enters(visitor("ann").at("other")).token;
  EXPECT_TRUE(store().purge("one"));
  EXPECT_TRUE(is_acquired(other));
}

// Scenario 13.
TEST_P(Seeds, ARateTakesExactlyOneToken) {
  every_visitor.rate_only().rate({.count = 2, .period = 1h});
  EXPECT_EQ(enters("ann").rate.remaining, 1U);
  EXPECT_EQ(enters("ann").rate.remaining, 0U);
  EXPECT_EQ(is_refused("ann", Reason::rate).rate.remaining, 0U);
}

// Scenario 14.
TEST_P(Seeds, ATokenTravelsAsText) {
  const Token ann = enters(visitor("ann").detached()).token;
  const std::string text = ann.text();
  EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789_.:-~/"),
            std::string::npos);
  const Token same = Token::parse(text);
  EXPECT_EQ(same.gate.view(), "gate");
  EXPECT_EQ(store().renew(same, 1min), Renewal::renewed);
  EXPECT_EQ(text, ann.text()) << "a renewal changes no token";
  EXPECT_TRUE(releases(same));
}

// Scenario 15.
TEST_P(Seeds, ACompositeTakesBothOrNone) {
  every_visitor.rate({.count = 2, .period = 1h});
  const Token ann = enters("ann").token;
  is_refused("bob", Reason::full);
  EXPECT_EQ(look().rates.at(0).info.remaining, 1U);
  EXPECT_TRUE(releases(ann));
  EXPECT_TRUE(releases(enters("bob").token));
  is_refused("cid", Reason::rate);
  EXPECT_THAT(holders(), IsEmpty());
}

// --- shared locks: a writer weighs as much as all readers ---

class ReadWrite : public Seeds {
 protected:
  ReadWrite() { every_visitor.limit(100).exclusive(); }
  Question reader(std::string_view name) const { return visitor(name); }
  Question writer(std::string_view name) const { return visitor(name).weight(100); }

  Renewal change(const Token& token, std::uint32_t weight) {
    RenewItem item{.token = token, .ttl = 30s, .weight = weight};
    store().renew({&item, 1});
    return item.result;
  }
};

// Scenario 16.
TEST_P(ReadWrite, ManyReadersKeepAWriterOutUntilTheLastIsGone) {
  std::vector<Token> readers;
  for (int i = 0; i < 5; ++i) readers.push_back(enters(reader(std::to_string(i))).token);
  for (const auto& token : readers) {
    is_refused(writer("writer"), Reason::full);
    EXPECT_TRUE(releases(token));
  }
  enters(writer("writer"));
}

// Scenario 17.
TEST_P(ReadWrite, AWriterKeepsReadersOut) {
  enters(writer("writer"));
  is_refused(reader("ann"), Reason::full);
  is_refused(writer("bob"), Reason::full);
}

// Scenario 18.
TEST_P(ReadWrite, AReaderBecomesAWriterOnlyWhenAlone) {
  const Token ann = enters(reader("ann")).token;
  const Token bob = enters(reader("bob")).token;
  EXPECT_EQ(change(ann, 100), Renewal::no_room);
  EXPECT_TRUE(releases(bob));
  EXPECT_EQ(change(ann, 100), Renewal::renewed);
  is_refused(reader("cid"), Reason::full);
}

// Scenario 19.
TEST_P(ReadWrite, AWriterThatBecomesAReaderLetsOthersIn) {
  const Token ann = enters(writer("ann")).token;
  waits(reader("bob"));
  EXPECT_EQ(change(ann, 1), Renewal::renewed);
  enters(reader("bob"));
  enters(reader("cid"));
}

TEST_P(ReadWrite, AWaitingWriterIsNotStarvedByNewReaders) {
  const Token ann = enters(reader("ann")).token;
  waits(writer("writer"));
  is_refused(reader("bob"), Reason::full);
  EXPECT_TRUE(releases(ann));
  enters(writer("writer"));
}

// --- queues ---

// Scenarios 33 to 37.
TEST_P(Seeds, AQueueIsFifoAndCountsFromOne) {
  const Token holder = enters("holder").token;
  EXPECT_EQ(waits("ann").position, 1U);
  EXPECT_EQ(waits("bob").position, 2U);
  EXPECT_EQ(waits("cid").position, 3U);
  EXPECT_EQ(waits("bob").position, 2U) << "adding again changes nothing";
  EXPECT_TRUE(leaves("bob"));
  EXPECT_FALSE(leaves("nobody"));
  EXPECT_EQ(waits("cid").position, 2U) << "removing shifts";
  EXPECT_THAT(line(), ElementsAre("ann", "cid"));
  EXPECT_THAT(line(), ElementsAre("ann", "cid")) << "looking removes nobody";
  EXPECT_TRUE(releases(holder));
  EXPECT_EQ(waits("cid").position, 1U) << "serving shifts";
}

// Scenario 38.
TEST_P(Seeds, AVisitorIsNeverTwiceInALineNorThereAfterItLeft) {
  enters("holder");
  for (int i = 0; i < 10; ++i) {
    waits("ann");
    EXPECT_EQ(waits("ann").position, 1U);
    EXPECT_THAT(line(), ElementsAre("ann"));
    EXPECT_TRUE(leaves("ann"));
    EXPECT_THAT(line(), IsEmpty());
  }
}

// Scenario 39.
TEST_P(Seeds, ALotterysWinnerIsAMemberAndStaysTheWinner) {
  every_visitor.order(Order::lottery);
  const Token holder = enters("holder").token;
  for (const char* name : {"ann", "bob", "cid"}) waits(name);
  EXPECT_TRUE(leaves("bob"));
  EXPECT_TRUE(releases(holder));
  const auto winner = handed();
  ASSERT_EQ(winner.size(), 1U);
  EXPECT_NE(winner[0], "bob");
  waits(winner[0] == "ann" ? "cid" : "ann");
  EXPECT_EQ(handed(), winner);
}

// Scenarios 40 and 105.
TEST_P(Seeds, AnUnhealthyGateAdmitsNobodyAndEverythingElseGoesOn) {
  const Token holder = enters("holder").token;
  waits("ann");
  store().pause(gate(), 10s, "health");
  EXPECT_TRUE(releases(holder));
  is_refused("bob", Reason::paused);
  EXPECT_EQ(waits("bob").position, 2U);
  EXPECT_TRUE(leaves("bob"));
  EXPECT_EQ(waits("ann").position, 1U);
  EXPECT_TRUE(store().resume(gate(), "health"));
  enters("ann");
}

INSTANTIATE_TEST_SUITE_P(Stores, Seeds, ::testing::ValuesIn(all_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Stores, ReadWrite, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
