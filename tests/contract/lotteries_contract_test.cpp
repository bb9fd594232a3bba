#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "contract/support/line_orders.hpp"

// Lotteries. The store draws by its own seed, so shares are asserted at six standard deviations.

namespace airlock::contract {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Lotteries : public LineOrders {
 protected:
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

// --- lottery ---

TEST_P(Lotteries, ALotteryCountsPositionsByArrival) {
  every_visitor.order(Order::lottery);
  enters("ann");
  EXPECT_EQ(waits("bob").position, 1U);
  EXPECT_EQ(waits("cid").position, 2U);
  EXPECT_EQ(waits("dan").position, 3U);
  EXPECT_EQ(waits("bob").position, 1U);
}

TEST_P(Lotteries, ALotteryGivesEverybodyTheSameChance) {
  every_visitor.order(Order::lottery);
  const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  std::map<std::string, int> won;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) ++won[draw(names)];
  for (const auto& name : names) expect_share(won[name], kRounds, 0.2);
}

TEST_P(Lotteries, ALotteryForARateGivesEverybodyTheSameChanceToo) {
  for (const bool with_permits : {true, false}) {
    every_visitor = Question("everyone").at(with_permits ? "both" : "rate").order(Order::lottery);
    every_visitor.limit(9).rate({.count = 1, .period = 1s});
    if (!with_permits) every_visitor.rate_only();
    std::map<std::string, int> won;
    constexpr int kRounds = 1'000;
    for (int round = 0; round < kRounds; ++round) {
      const Token holder = enters("holder").token;
      for (const char* name : {"a", "b", "c", "d"}) waits(name);
      EXPECT_EQ(releases(holder), with_permits);
      after(1s);
      ASSERT_THAT(handed(), SizeIs(1));
      ++won[handed()[0]];
      for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(leaves(name));
    }
    for (const char* name : {"a", "b", "c", "d"}) expect_share(won[name], kRounds, 0.25);
  }
}

TEST_P(Lotteries, ALotteryIsNotAFixedCycle) {
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

TEST_P(Lotteries, ALotteryNeverDrawsOneWhoLeft) {
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

TEST_P(Lotteries, ALotteryNeverDrawsAnAbsentWaiter) {
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

TEST_P(Lotteries, ALotterysWinnerIsNotDrawnAnew) {
  every_visitor.order(Order::lottery);
  const Token holder = enters("holder").token;
  for (const char* name : {"a", "b", "c", "d"}) waits(name);
  const std::string winner = next_after(holder);
  for (const char* name : {"a", "b", "c", "d"})
    if (name != winner) waits(name);
  EXPECT_THAT(handed(), ElementsAre(winner));
  enters(winner);
}

TEST_P(Lotteries, AWinnerThatDoesNotFitIsNotStarved) {
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

TEST_P(Lotteries, AWinnerThatDoesNotFitAndLeavesMakesRoomForADraw) {
  every_visitor.order(Order::lottery).limit(2);
  const Token x = enters("x").token;
  enters("y");
  waits(visitor("heavy").weight(2));
  EXPECT_TRUE(releases(x));
  waits("light");
  EXPECT_TRUE(leaves("heavy"));
  EXPECT_THAT(handed(), ElementsAre("light"));
}

TEST_P(Lotteries, AWinnerThatDoesNotFitStaysTheWinnerHoweverOftenItAsks) {
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

TEST_P(Lotteries, AnAgingLotteryFavoursTheOlder) {
  every_visitor.order(Order::aging_lottery).aging({.base = 1, .per_second = 1, .max = 1'000});
  std::map<std::string, int> won;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) ++won[draw({"old", "young"}, 3s)];
  expect_share(won["old"], kRounds, 7.0 / 11);  // Six and three seconds waited: 7 and 4 tickets.
}

TEST_P(Lotteries, AnAgingLotteryStillLetsTheYoungWin) {
  every_visitor.order(Order::aging_lottery).aging({.base = 1, .per_second = 3, .max = 1'000});
  std::map<std::string, int> won;
  for (int round = 0; round < 1'000; ++round) ++won[draw({"old", "young"}, 1s)];
  EXPECT_GT(won["young"], 0);
  EXPECT_GT(won["old"], won["young"]);
}

TEST_P(Lotteries, AnAgingLotterysTicketsHaveAMaximum) {
  every_visitor.order(Order::aging_lottery).aging({.base = 1, .per_second = 10, .max = 2});
  std::map<std::string, int> won;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) ++won[draw({"old", "young"}, 3s)];
  expect_share(won["old"], kRounds, 0.5);
}

TEST_P(Lotteries, AnAgingLotteryWithoutAgingIsALottery) {
  every_visitor.order(Order::aging_lottery).aging({.base = 5, .per_second = 0, .max = 100});
  std::map<std::string, int> won;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) ++won[draw({"a", "b", "c", "d"}, 1s)];
  for (const char* name : {"a", "b", "c", "d"}) expect_share(won[name], kRounds, 0.25);
}

INSTANTIATE_TEST_SUITE_P(Stores, Lotteries, ::testing::ValuesIn(stores_on_one_server()),
                         name_of_store);

}  // namespace
}  // namespace airlock::contract
