#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "contract/support/store_contract.hpp"

// The orders of a line. The store draws by its own seed, so shares are asserted at six standard
// deviations.

namespace airlock::contract {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class LineOrders : public StoreContract {
 protected:
  // Releases `holder` and says who was handed its place.
  std::string next_after(const Token& holder) {
    EXPECT_TRUE(releases(holder));
    const auto names = handed();
    EXPECT_THAT(names, SizeIs(1));
    return names.empty() ? "nobody" : names[0];
  }

  // One draw among `names`, who arrived in that order, `gap` apart; the gate is empty before and
  // after.
  std::string draw(const std::vector<std::string>& names, Duration gap = 0s) {
    const Token holder = enters(visitor("holder").ttl(1h)).token;
    for (const auto& name : names) {
      waits(name);
      after(gap);
    }
    const std::string winner = next_after(holder);
    for (const auto& name : names) EXPECT_TRUE(leaves(name));
    return winner;
  }

  static void expect_share(int won, int of, double share) {
    const double sigma = std::sqrt(of * share * (1 - share));
    EXPECT_NEAR(won, of * share, 6 * sigma);
  }
};

// --- priority ---

TEST_P(LineOrders, APriorityLineServesTheHigherFirst) {
  every_visitor.order(Order::priority);
  const Token holder = enters("holder").token;
  waits(visitor("low").priority(1));
  EXPECT_EQ(waits(visitor("high").priority(4095)).position, 1U);
  EXPECT_EQ(waits(visitor("middle").priority(100)).position, 2U);
  EXPECT_EQ(waits(visitor("lowest")).position, 4U);
  EXPECT_THAT(line(), ElementsAre("high", "middle", "low", "lowest"));
  EXPECT_EQ(next_after(holder), "high");
}

TEST_P(LineOrders, APriorityLineIsFifoInsideAPriority) {
  every_visitor.order(Order::priority);
  Token holder = enters("holder").token;
  for (const char* name : {"a1", "a2", "a3"}) waits(visitor(name).priority(1));
  for (const char* name : {"b1", "b2", "b3"}) waits(visitor(name).priority(2));
  for (const char* name : {"b1", "b2", "b3", "a1", "a2", "a3"}) {
    ASSERT_EQ(next_after(holder), name);
    holder = enters(name).token;
  }
}

TEST_P(LineOrders, AnAbsentWaiterReturnsToItsPlaceInsideItsPriority) {
  every_visitor.order(Order::priority);
  const Token holder = enters("holder").token;
  waits(visitor("bob").priority(2));
  EXPECT_EQ(next_after(holder), "bob");
  after(1s);
  enters("cid");
  waits(visitor("dan").priority(2));
  waits(visitor("eve").priority(3));
  waits(visitor("bob").priority(2));
  EXPECT_THAT(line(), ElementsAre("eve", "bob", "dan"));
}

TEST_P(LineOrders, AHigherNewcomerComesBeforeAHeadThatDoesNotFit) {
  every_visitor.order(Order::priority).limit(2);
  const Token ann = enters("ann").token;
  enters("bob");
  waits(visitor("heavy").weight(2).priority(1));
  waits(visitor("light").priority(2));
  EXPECT_EQ(next_after(ann), "light");
}

TEST_P(LineOrders, AHigherNewcomerIsNotLateBecauseOfThoseItPasses) {
  every_visitor.order(Order::priority).patience(1h).ttl(1h);
  Token holder = enters("holder").token;
  for (int i = 0; i < 20; ++i) waits(std::to_string(i));
  for (int i = 0; i < 10; ++i) {
    after(4s);
    EXPECT_EQ(next_after(holder), std::to_string(i));
    holder = enters(std::to_string(i)).token;
  }
  EXPECT_TRUE(std::holds_alternative<Refused>(ask(visitor("low").joins().max_eta(10s))));
  EXPECT_EQ(waits(visitor("high").priority(1).max_eta(10s)).position, 1U);
}

// --- lottery ---

TEST_P(LineOrders, ALotteryCountsPositionsByArrival) {
  every_visitor.order(Order::lottery);
  enters("ann");
  EXPECT_EQ(waits("bob").position, 1U);
  EXPECT_EQ(waits("cid").position, 2U);
  EXPECT_EQ(waits("dan").position, 3U);
  EXPECT_EQ(waits("bob").position, 1U);
}

TEST_P(LineOrders, ALotteryGivesEverybodyTheSameChance) {
  every_visitor.order(Order::lottery);
  const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  std::map<std::string, int> won;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) ++won[draw(names)];
  for (const auto& name : names) expect_share(won[name], kRounds, 0.2);
}

TEST_P(LineOrders, ALotteryIsNotAFixedCycle) {
  every_visitor.order(Order::lottery);
  const std::vector<std::string> names = {"a", "b"};
  constexpr int kRounds = 2'000;
  int same = 0;
  std::string last = draw(names);
  for (int round = 0; round < kRounds; ++round) {
    const std::string winner = draw(names);
    same += winner == last ? 1 : 0;
    last = winner;
  }
  expect_share(same, kRounds, 0.5);
}

TEST_P(LineOrders, ALotteryNeverDrawsOneWhoLeft) {
  every_visitor.order(Order::lottery);
  for (int round = 0; round < 100; ++round) {
    const Token holder = enters("holder").token;
    waits("bob");
    waits("cid");
    waits("dan");
    EXPECT_TRUE(leaves("cid"));
    ASSERT_THAT(next_after(holder), AnyOf("bob", "dan"));
    EXPECT_TRUE(leaves("bob"));
    EXPECT_TRUE(leaves("dan"));
  }
}

TEST_P(LineOrders, ALotteryNeverDrawsAnAbsentWaiter) {
  every_visitor.order(Order::lottery);
  for (int round = 0; round < 100; ++round) {
    Token holder = enters("holder").token;
    waits("bob");
    ASSERT_EQ(next_after(holder), "bob");
    after(1s);
    holder = enters("cid").token;
    waits("dan");
    ASSERT_EQ(next_after(holder), "dan");
    EXPECT_TRUE(leaves("bob"));
    EXPECT_TRUE(leaves("dan"));
  }
}

TEST_P(LineOrders, ALotterysWinnerIsNotDrawnAnew) {
  every_visitor.order(Order::lottery);
  const Token holder = enters("holder").token;
  for (const char* name : {"a", "b", "c", "d"}) waits(name);
  const std::string winner = next_after(holder);
  for (const char* name : {"a", "b", "c", "d"})
    if (name != winner) waits(name);
  EXPECT_THAT(handed(), ElementsAre(winner));
  enters(winner);
}

TEST_P(LineOrders, AWinnerThatDoesNotFitIsNotStarved) {
  every_visitor.order(Order::lottery).limit(2).ttl(1h).patience(1h);
  std::vector<Token> inside = {enters("x").token, enters("y").token};
  waits(visitor("heavy").weight(2));
  std::mt19937 random(1);
  bool served = false;
  for (int round = 0; round < 500 && !served; ++round) {  // Newcomers never cease.
    waits("light" + std::to_string(round));
    ASSERT_FALSE(inside.empty());
    std::swap(inside[random() % inside.size()], inside.back());
    EXPECT_TRUE(releases(inside.back()));
    inside.pop_back();
    for (const auto& name : handed()) {
      served = served || name == "heavy";
      inside.push_back(enters(name).token);
    }
    if (inside.size() == 1 && handed().empty() && !served) {
      EXPECT_TRUE(releases(inside.back()));  // Somebody heavy was drawn and waits for the rest.
      inside.clear();
      for (const auto& name : handed()) {
        served = served || name == "heavy";
        inside.push_back(enters(name).token);
      }
    }
  }
  EXPECT_TRUE(served);
}

TEST_P(LineOrders, AWinnerThatDoesNotFitAndLeavesMakesRoomForADraw) {
  every_visitor.order(Order::lottery).limit(2);
  const Token x = enters("x").token;
  enters("y");
  waits(visitor("heavy").weight(2));
  EXPECT_TRUE(releases(x));
  waits("light");
  EXPECT_TRUE(leaves("heavy"));
  EXPECT_THAT(handed(), ElementsAre("light"));
}

TEST_P(LineOrders, AWinnerThatDoesNotFitStaysTheWinnerHoweverOftenItAsks) {
  for (int round = 0; round < 20; ++round) {
    every_visitor.at("gate" + std::to_string(round)).order(Order::lottery).limit(2);
    const Token x = enters("x").token;
    const Token y = enters("y").token;
    waits(visitor("heavy").weight(2));
    EXPECT_TRUE(releases(x));
    for (const char* name : {"a", "b", "c", "d"}) waits(name);
    waits("heavy");
    ASSERT_THAT(handed(), IsEmpty());
    ASSERT_EQ(next_after(y), "heavy");
  }
}

// --- aging lottery ---

TEST_P(LineOrders, AnAgingLotteryFavoursTheOlder) {
  every_visitor.order(Order::aging_lottery).aging({.base = 1, .per_second = 1, .max = 1'000});
  std::map<std::string, int> won;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) ++won[draw({"old", "young"}, 3s)];
  expect_share(won["old"], kRounds, 7.0 / 11);  // Six and three seconds waited: 7 and 4 tickets.
}

TEST_P(LineOrders, AnAgingLotteryStillLetsTheYoungWin) {
  every_visitor.order(Order::aging_lottery).aging({.base = 1, .per_second = 3, .max = 1'000});
  std::map<std::string, int> won;
  for (int round = 0; round < 1'000; ++round) ++won[draw({"old", "young"}, 1s)];
  EXPECT_GT(won["young"], 0);
  EXPECT_GT(won["old"], won["young"]);
}

TEST_P(LineOrders, AnAgingLotterysTicketsHaveAMaximum) {
  every_visitor.order(Order::aging_lottery).aging({.base = 1, .per_second = 10, .max = 2});
  std::map<std::string, int> won;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) ++won[draw({"old", "young"}, 3s)];
  expect_share(won["old"], kRounds, 0.5);
}

TEST_P(LineOrders, AnAgingLotteryWithoutAgingIsALottery) {
  every_visitor.order(Order::aging_lottery).aging({.base = 5, .per_second = 0, .max = 100});
  std::map<std::string, int> won;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) ++won[draw({"a", "b", "c", "d"}, 1s)];
  for (const char* name : {"a", "b", "c", "d"}) expect_share(won[name], kRounds, 0.25);
}

// --- every order ---

constexpr std::array kOrders = {Order::fifo, Order::priority, Order::lottery, Order::aging_lottery};

TEST_P(LineOrders, EveryOrderMakesProgressByItself) {
  for (const Order order : kOrders) {
    every_visitor.order(order).ttl(1h).patience(1h);
    Token holder = enters("holder").token;
    for (int i = 0; i < 50; ++i) waits(std::to_string(i));
    for (int i = 0; i < 50; ++i) holder = enters(next_after(holder)).token;
    EXPECT_THAT(line(), IsEmpty());
    EXPECT_TRUE(releases(holder));
  }
}

TEST_P(LineOrders, EveryOrderPassesAnUnclaimedHandOverOn) {
  for (const Order order : kOrders) {
    every_visitor.order(order);
    const Token holder = enters("holder").token;
    waits("bob");
    waits("cid");
    const std::string missed = next_after(holder);
    const std::string other = missed == "bob" ? "cid" : "bob";
    after(1s);
    EXPECT_TRUE(releases(enters(other).token));
    EXPECT_THAT(line(), ElementsAre(missed));
    EXPECT_TRUE(leaves(missed));
  }
}

TEST_P(LineOrders, EveryOrderFillsAllFreeSlotsInOneStep) {
  for (const Order order : kOrders) {
    every_visitor.order(order).limit(3);
    const Token holder = enters(visitor("holder").weight(3)).token;
    for (const char* name : {"bob", "cid", "dan"}) waits(name);
    EXPECT_TRUE(releases(holder));
    EXPECT_THAT(handed(), UnorderedElementsAre("bob", "cid", "dan"));
    for (const char* name : {"bob", "cid", "dan"}) EXPECT_TRUE(releases(enters(name).token));
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, LineOrders, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
