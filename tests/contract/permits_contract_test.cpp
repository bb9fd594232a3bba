#include <cstdint>
#include <random>
#include <set>

#include "contract/support/store_contract.hpp"

// Law 1: the weight in use, at most the effective limit at the moment of every grant.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Scenario 9: full is an answer.
TEST_P(StoreContract, AsManyEnterAsTheLimitSays) {
  every_visitor.limit(3);
  enters("ann");
  enters("bob");
  enters("cid");
  is_refused("dan", Reason::full);
  EXPECT_EQ(look().counts.in_use, 3U);
}

TEST_P(StoreContract, ARefusedVisitorLeavesNothingBehind) {
  enters("ann");
  is_refused("bob", Reason::full);
  EXPECT_THAT(holders(), ElementsAre("ann"));
  EXPECT_THAT(line(), IsEmpty());
}

TEST_P(StoreContract, AReleasedPlaceIsFreeAtOnce) {
  const Token ann = enters("ann").token;
  EXPECT_TRUE(releases(ann));
  enters("bob");
  EXPECT_THAT(holders(), ElementsAre("bob"));
}

TEST_P(StoreContract, WeightsAddUp) {
  every_visitor.limit(4);
  enters(visitor("ann").weight(3));
  is_refused(visitor("bob").weight(2), Reason::full);
  enters(visitor("cid").weight(1));
  is_refused(visitor("dan").weight(1), Reason::full);
  EXPECT_EQ(look().counts.in_use, 4U);
  EXPECT_EQ(look().counts.holders, 2U);
}

TEST_P(StoreContract, AReleaseGivesBackTheWholeWeight) {
  every_visitor.limit(4).weight(4);
  const Token ann = enters("ann").token;
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(look().counts.in_use, 0U);
  enters("bob");
}

TEST_P(StoreContract, GatesAreIndependent) {
  enters(visitor("ann").at("one"));
  enters(visitor("ann").at("other"));
  enters(visitor("bob").at("group/one"));
  enters(visitor("bob").at("other/one"));
  is_refused(visitor("bob").at("one"), Reason::full);
}

class Slots : public StoreContract {
 protected:
  // Visitors come and go at random; each slot is below the limit and nobody else's.
  void churn(std::uint32_t limit, int rounds) {
    every_visitor.limit(limit);
    std::mt19937 random(1);
    std::vector<Granted> inside;
    std::set<std::uint32_t> taken;
    for (int round = 0; round < rounds; ++round) {
      const bool comes = random() % 8 < 5;
      if (comes && inside.size() < limit) {
        inside.push_back(enters(std::to_string(round)));
        ASSERT_TRUE(inside.back().slot.has_value());
        ASSERT_LT(*inside.back().slot, limit);
        ASSERT_TRUE(taken.insert(*inside.back().slot).second) << "slot is taken";
      } else if (!inside.empty()) {
        std::swap(inside[random() % inside.size()], inside.back());
        ASSERT_TRUE(releases(inside.back().token));
        taken.erase(*inside.back().slot);
        inside.pop_back();
      }
    }
  }
};

TEST_P(Slots, AreUniqueAndBelowTheLimit) { churn(5, 500); }

TEST_P(Slots, AreUniqueAndBelowALargeLimit) { churn(300, 4'000); }

TEST_P(StoreContract, ASlotIsBelowTheVisitorsOwnLimit) {
  every_visitor.limit(4);
  const Token ann = enters("ann").token;
  const Token bob = enters("bob").token;
  enters("cid");
  enters("dan");
  EXPECT_TRUE(releases(ann));
  EXPECT_TRUE(releases(bob));
  const Granted eve = enters(visitor("eve").limit(3));
  ASSERT_TRUE(eve.slot.has_value());
  EXPECT_LT(*eve.slot, 3U);
  EXPECT_NE(eve.slot, look().holders.at(0).slot);
  EXPECT_NE(eve.slot, look().holders.at(1).slot);
}

TEST_P(StoreContract, AnExpiredHoldersSlotIsGivenAgain) {
  every_visitor.limit(2);
  const Slot ann = enters(visitor("ann").ttl(1s)).slot;
  const Slot bob = enters("bob").slot;
  after(1s);
  EXPECT_EQ(enters("cid").slot, ann);
  EXPECT_NE(ann, bob);
}

TEST_P(StoreContract, AWaiterIsHandedASlotToo) {
  const Granted ann = enters("ann");
  waits("bob");
  EXPECT_TRUE(releases(ann.token));
  EXPECT_EQ(enters("bob").slot, ann.slot);
}

TEST_P(StoreContract, AVisitorOfAnotherWeightHasNoSlot) {
  every_visitor.limit(4);
  EXPECT_FALSE(enters(visitor("ann").weight(2)).slot.has_value());
  EXPECT_TRUE(enters("bob").slot.has_value());
}

TEST_P(StoreContract, EachVisitorIsHeldToItsOwnLimit) {
  enters(visitor("ann").limit(3));
  is_refused(visitor("bob").limit(1), Reason::full);
  enters(visitor("cid").limit(3));
  is_refused(visitor("dan").limit(2), Reason::full);
}

TEST_P(StoreContract, LimitsThatDisagreeShow) {
  enters(visitor("ann").limit(3));
  EXPECT_FALSE(look().limits_disagree);
  is_refused(visitor("bob").limit(1), Reason::full);
  EXPECT_TRUE(look().limits_disagree);
}

TEST_P(StoreContract, AWaiterCarriesItsOwnLimit) {
  const Token ann = enters(visitor("ann").limit(3)).token;
  waits(visitor("bob").limit(1));
  waits(visitor("cid").limit(3));
  waits(visitor("dan").limit(2));
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), ElementsAre("bob", "cid"));
  EXPECT_THAT(line(), ElementsAre("dan"));
}

TEST_P(StoreContract, AnOverrideTakesThePlaceOfEveryLimit) {
  every_visitor.limit(2);
  store().set_limit(gate(), 3);
  enters("ann");
  enters("bob");
  const Granted cid = enters("cid");
  EXPECT_TRUE(cid.slot.has_value() && *cid.slot < 3);
  is_refused("dan", Reason::full);
  EXPECT_EQ(look().counts.limit, 3U);
  EXPECT_EQ(look().override_limit, 3U);
}

TEST_P(StoreContract, ALoweredLimitDrains) {
  every_visitor.limit(3);
  const Token ann = enters("ann").token;
  const Token bob = enters("bob").token;
  const Token cid = enters("cid").token;
  store().set_limit(gate(), 1);
  EXPECT_THAT(holders(), ElementsAre("ann", "bob", "cid"));
  EXPECT_TRUE(releases(ann));
  EXPECT_TRUE(releases(bob));
  is_refused("dan", Reason::full);
  EXPECT_TRUE(releases(cid));
  enters("dan");
}

TEST_P(StoreContract, AnExclusiveGateCannotBeRaised) {
  every_visitor.limit(1).exclusive();
  store().set_limit(gate(), 5);
  enters("ann");
  is_refused("bob", Reason::full);
}

TEST_P(StoreContract, AnExclusiveGateCanBeLowered) {
  every_visitor.limit(10).exclusive();
  store().set_limit(gate(), 2);
  enters("ann");
  enters("bob");
  is_refused("cid", Reason::full);
}

TEST_P(StoreContract, AVisitorHeavierThanTheOverrideRunsAlone) {
  every_visitor.limit(4);
  store().set_limit(gate(), 2);
  const Token ann = enters("ann").token;
  is_refused(visitor("writer").weight(4), Reason::full);
  EXPECT_TRUE(releases(ann));
  const Token writer = enters(visitor("writer").weight(4)).token;
  is_refused("bob", Reason::full);
  EXPECT_TRUE(releases(writer));
  enters("bob");
}

TEST_P(StoreContract, AHeadHeavierThanTheOverrideIsHandedTheEmptyGate) {
  every_visitor.limit(4);
  const Token ann = enters("ann").token;
  waits(visitor("writer").weight(4));
  waits("bob");
  store().set_limit(gate(), 2);
  EXPECT_TRUE(releases(ann));
  EXPECT_THAT(handed(), ElementsAre("writer"));
  EXPECT_THAT(line(), ElementsAre("bob"));
}

TEST_P(StoreContract, AnOverrideOfZeroAdmitsNobody) {
  store().set_limit(gate(), 0);
  EXPECT_LASTS(is_refused("ann", Reason::full).retry_after, 1s);
  is_refused(visitor("bob").limit(4).weight(4), Reason::full);
}

TEST_P(StoreContract, ARenewalMayChangeTheWeight) {
  every_visitor.limit(4);
  RenewItem ann{.token = enters("ann").token, .ttl = 30s, .weight = 3};
  store().renew({&ann, 1});
  EXPECT_EQ(ann.result, Renewal::renewed);
  EXPECT_EQ(look().counts.in_use, 3U);
  is_refused(visitor("bob").weight(2), Reason::full);
}

TEST_P(StoreContract, ARenewalWithoutRoomChangesNothing) {
  every_visitor.limit(4);
  RenewItem ann{.token = enters("ann").token, .ttl = 60s, .weight = 4};
  enters("bob");
  after(10s);
  const std::string before = describe(look());
  store().renew({&ann, 1});
  EXPECT_EQ(ann.result, Renewal::no_room);
  EXPECT_EQ(describe(look()), before);
}

TEST_P(StoreContract, AHolderThatIsOfWeightOneAgainHasASlotOfItsOwnAgain) {
  every_visitor.limit(4);
  RenewItem ann{.token = enters("ann").token, .ttl = 30s, .weight = 3};
  const Slot bob = enters("bob").slot;
  store().renew({&ann, 1});
  ann.weight = 1;
  store().renew({&ann, 1});
  EXPECT_EQ(ann.result, Renewal::renewed);
  std::set<Slot> slots = {bob, repeats("ann").slot, enters("cid").slot, enters("dan").slot};
  EXPECT_EQ(slots, (std::set<Slot>{0, 1, 2, 3}));
}

TEST_P(StoreContract, ALighterHolderLetsTheLineIn) {
  every_visitor.limit(4);
  RenewItem writer{.token = enters(visitor("writer").weight(4)).token, .ttl = 30s, .weight = 1};
  waits("ann");
  waits("bob");
  store().renew({&writer, 1});
  EXPECT_EQ(writer.result, Renewal::renewed);
  EXPECT_THAT(handed(), ElementsAre("ann", "bob"));
}

INSTANTIATE_TEST_SUITE_P(Stores, Slots, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
