#include <array>
#include <string>

#include "contract/support/line_orders.hpp"

// Priority, and what holds for every order of a line.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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

TEST_P(LineOrders, EveryOrderServesAWaiterByItsOwnLimitWhateverOthersCameWith) {
  for (const Order order : kOrders) {
    every_visitor.at("gate" + std::to_string(static_cast<int>(order))).order(order).limit(3);
    const Token holder = enters("x").token;
    enters("y");
    enters("z");
    waits("bob");
    is_refused(visitor("small").limit(1), Reason::full);
    EXPECT_EQ(next_after(holder), "bob");
  }
}

TEST_P(LineOrders, ALineHasOneOrderAtATime) {
  for (const Order order : kOrders) {
    every_visitor.at("gate" + std::to_string(static_cast<int>(order))).order(order);
    enters("ann");
    waits("bob");
    for (const Order other : kOrders) {
      if (other == order) continue;
      EXPECT_THROW((void)ask(visitor("cid").order(other).joins()), InvalidArgument);
    }
    EXPECT_THAT(line(every_visitor.gate()), ElementsAre("bob"));
  }
}

TEST_P(LineOrders, ALineAgesInOneWayAtATime) {
  constexpr Aging kAging{.base = 2, .per_second = 3, .max = 50};
  every_visitor.order(Order::aging_lottery).aging(kAging);
  enters("ann");
  waits("bob");
  for (const Aging& other :
       {Aging{.base = 1, .per_second = 3, .max = 50}, Aging{.base = 2, .per_second = 4, .max = 50},
        Aging{.base = 2, .per_second = 3, .max = 51}}) {
    EXPECT_THROW((void)ask(visitor("cid").aging(other).joins()), InvalidArgument);
  }
  EXPECT_EQ(waits("cid").waiting, 2U);
}

INSTANTIATE_TEST_SUITE_P(Stores, LineOrders, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
