#include "contract/support/store_contract.hpp"

// Line::returning: the ask of one who has been here before. It takes up what there is for it, keeps
// the place that it has, and gives nothing to a stranger.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Claims : public StoreContract {
 protected:
  [[nodiscard]] Question returning(std::string_view name) const { return visitor(name).returns(); }

  Queued still_waits(std::string_view name) { return std::get<Queued>(ask(returning(name))); }
};

TEST_P(Claims, AStrangerIsRefusedThoughThereIsRoom) {
  every_visitor.rate({.count = 1, .period = 1h});
  const Refused stranger = is_refused(returning("bob"), Reason::late);
  EXPECT_LASTS(stranger.retry_after, 0s);
  EXPECT_THAT(holders(), IsEmpty());
  enters("ann");
}

TEST_P(Claims, AHandOverIsClaimed) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_LASTS(enters(returning("bob")).expires_in, 30s);
  EXPECT_THAT(handed(), IsEmpty());
}

TEST_P(Claims, WhoWaitsKeepsItsPlaceAndItsPatience) {
  enters("ann");
  waits(visitor("bob").patience(3s));
  waits("cid");
  after(2s);
  EXPECT_EQ(still_waits("bob").position, 1U);
  after(3s - 1us);
  EXPECT_THAT(line(), ElementsAre("bob", "cid"));
  after(1us);
  EXPECT_THAT(line(), ElementsAre("cid"));
}

TEST_P(Claims, WhoMissedItsTurnIsInIfThereIsRoom) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  after(1s);
  enters(returning("bob"));
}

TEST_P(Claims, WhoMissedItsTurnIsFirstIfThereIsNoRoom) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  after(1s);
  enters("cid");
  waits("dan");
  EXPECT_EQ(still_waits("bob").position, 1U);
  EXPECT_THAT(line(), ElementsAre("bob", "dan"));
}

TEST_P(Claims, WhoWasAwayTooLongIsAStranger) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  after(10s);
  is_refused(returning("bob"), Reason::late);
}

TEST_P(Claims, WhoLeftIsAStranger) {
  enters("ann");
  waits("bob");
  EXPECT_TRUE(leaves("bob"));
  is_refused(returning("bob"), Reason::late);
  EXPECT_THAT(line(), IsEmpty());
}

// By its fence, which an operator sees.
TEST_P(Claims, AHandOverIsNotAdopted) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  const HolderView bob = look().holders.at(0);
  const Token token{
      .store = store().id(), .gate = gate(), .visitor = bob.visitor, .fence = bob.fence};
  EXPECT_FALSE(store().adopt(token));
  enters("bob");
  EXPECT_TRUE(store().adopt(token));
}

TEST_P(Claims, WhoIsInStaysIn) {
  const Token ann = enters("ann").token;
  EXPECT_EQ(repeats(returning("ann")).token, ann);
}

TEST_P(Claims, AStrangersLimitIsNotNoted) {
  enters("ann");
  is_refused(returning("bob").limit(7), Reason::late);
  EXPECT_EQ(look().counts.limit, 1U);
}

TEST_P(Claims, WhatIsRememberedOfARateStays) {
  const Question once = visitor("bob").rate_only().rate({.count = 5, .period = 1h}).dedupe(1min);
  enters(once);
  is_refused(returning("bob"), Reason::late);
  repeats(once);
}

TEST_P(Claims, NeitherJoinNorComeInGroups) {
  EXPECT_THROW((void)ask(returning("bob").joins()), InvalidArgument);
  const Question question = returning("bob");
  const Request request = question.request();
  EXPECT_THROW((void)store().admit_all(std::span(&request, 1)), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Stores, Claims, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
