#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "contract/support/store_contract.hpp"

// What was seen to go wrong in the systems this one started from, and scenarios 21 to 31: rates.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SeedRates : public StoreContract {
 protected:
  SeedRates() { every_visitor.rate_only(); }

  static constexpr Rate fixed(std::uint32_t count, Duration period) {
    return {.count = count, .period = period, .algorithm = Rate::Algorithm::fixed_window};
  }
};

// Scenario 21.
TEST_P(SeedRates, AFixedWindowPassesItsLimitAndResets) {
  for (const Duration period : {Duration(1min), Duration(1h), Duration(24h), Duration(24h * 365)}) {
    every_visitor.rates({fixed(10, period)});
    for (int i = 0; i < 10; ++i) enters("ann");
    is_refused("ann", Reason::rate);
    after(period);
    enters("ann");
  }
}

// Scenario 22.
TEST_P(SeedRates, ASlidingWindowHasProportionalRoom) {
  every_visitor.rate({.count = 10, .period = 12s, .algorithm = Rate::Algorithm::sliding_window});
  until_multiple_of(12s);
  enters(visitor("ann").cost(8));
  after(15s);
  is_refused(visitor("ann").cost(5), Reason::rate);
  enters(visitor("ann").cost(4));
}

// Scenario 23. The seed refills in whole seconds, so that the third waits one; a bucket that
// refills all the time needs half of that.
TEST_P(SeedRates, ThreeReservationsOfFiveOnABurstOfTen) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::reserve).cost(5);
  EXPECT_LASTS(enters("ann").delay, 0s);
  EXPECT_LASTS(enters("ann").delay, 0s);
  EXPECT_LASTS(enters("ann").delay, 500ms);
}

// Scenario 24.
TEST_P(SeedRates, AReservationOverTheLongestDelayIsRefusedWithTheState) {
  every_visitor.rate({.count = 10, .period = 1s}).mode(RateMode::reserve);
  enters(visitor("ann").cost(10));
  const Refused refused = is_refused(visitor("ann").cost(5).max_delay(300ms), Reason::rate);
  EXPECT_EQ(refused.rate.limit, 10U);
  EXPECT_EQ(refused.rate.remaining, 0U);
  EXPECT_GT(refused.retry_after, 0s);
  is_refused(visitor("ann").cost(11), Reason::never);
}

// Scenario 25.
TEST_P(SeedRates, APeekReportsTheNextAvailability) {
  every_visitor.rate({.count = 10, .period = 1s});
  enters(visitor("ann").cost(10));
  const Question peek = visitor("ann").mode(RateMode::peek);
  EXPECT_LASTS(is_refused(peek, Reason::rate).retry_after, 100ms);
  EXPECT_LASTS(is_refused(peek, Reason::rate).retry_after, 100ms);
  after(100ms);
  enters(peek);
  enters("ann");
}

// Scenario 27.
TEST_P(SeedRates, AWallClockThatGoesBackNeitherGrantsNorRemoves) {
  every_visitor.rate({.count = 10, .period = 1s});
  enters(visitor("ann").cost(4));
  wall_jumps(-1h);
  EXPECT_EQ(enters("ann").rate.remaining, 5U);
  wall_jumps(2h);
  EXPECT_EQ(enters("ann").rate.remaining, 4U);
}

// Scenario 29.
TEST_P(SeedRates, APurgeRestoresARate) {
  every_visitor.rate({.count = 10, .period = 1h});
  enters(visitor("ann").cost(10));
  EXPECT_TRUE(store().purge(gate()));
  enters(visitor("ann").cost(10));
}

// Scenario 31.
TEST_P(SeedRates, TheTightestOfSeveralWins) {
  every_visitor.rate(fixed(4, 1s)).rate(fixed(8, 10s)).rate(fixed(12, 1min));
  for (int second = 0; second < 2; ++second) {
    for (int i = 0; i < 4; ++i) enters("ann");
    is_refused("ann", Reason::rate);
    after(1s);
  }
  EXPECT_LASTS(is_refused("ann", Reason::rate).retry_after, 8s);
}

TEST_P(SeedRates, RetryAfterIsNeverInThePast) {
  every_visitor.rate({.count = 3, .period = 1s, .algorithm = Rate::Algorithm::sliding_window});
  std::mt19937 random(3);
  for (int i = 0; i < 1'000; ++i) {
    const Answer answer = ask(visitor("ann"));
    if (const auto* refused = std::get_if<Refused>(&answer)) {
      ASSERT_GT(refused->retry_after, 0us);
      ASSERT_LE(refused->retry_after, 2s);
    }
    after(Duration(random() % 100'000));
  }
}

TEST_P(SeedRates, ReservationsBeyondTheLimitDoNotAllWakeTogether) {
  every_visitor.rate({.count = 2, .period = 10s}).mode(RateMode::reserve);
  Duration last{0};
  for (int i = 0; i < 2; ++i) EXPECT_LASTS(enters("ann").delay, 0s);
  for (int i = 0; i < 5; ++i) {
    const Duration delay = enters("ann").delay;
    EXPECT_LASTS(delay, last + 5s);
    last = delay;
  }
}

TEST_P(SeedRates, ACompoundThatRefusesBurnsNothing) {
  every_visitor.rate(fixed(10, 1min)).rate(fixed(2, 1h));
  enters("ann");
  enters("ann");
  for (int i = 0; i < 4; ++i) is_refused("ann", Reason::rate);
  EXPECT_EQ(enters(visitor("ann").rates({fixed(10, 1min)})).rate.remaining, 7U);
}

TEST_P(SeedRates, ManyCallersOfAFixedWindowNeverPassItsLimit) {
  every_visitor.rate(fixed(20, 1h));
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 16; ++j)
        if (std::holds_alternative<Granted>(ask(visitor("ann")))) ++granted;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(granted, 20);
}

// --- locks and semaphores ---

TEST_P(StoreContract, AFractionalTtlNeitherLeaksNorShortensALease) {
  for (int i = 0; i < 10; ++i) {
    after(900ms);
    enters(visitor("ann").ttl(2500ms));
    after(2499ms);
    is_refused("bob", Reason::full);
    after(1ms);
    EXPECT_THAT(holders(), IsEmpty());
  }
}

TEST_P(StoreContract, NamesThatLookLikeInternalsDoNotCollide) {
  const std::vector<std::string> names = {"foo",        "lock:foo", "foo:lock", "foo:time",
                                          "foo:weight", "foo:line", "foo:rate", "foo:gate",
                                          "g/foo",      "foo/foo"};
  for (const auto& name : names) enters(visitor("ann").at(name));
  for (const auto& name : names) {
    is_refused(visitor("bob").at(name), Reason::full);
    EXPECT_THAT(holders(name), ElementsAre("ann"));
  }
}

TEST_P(StoreContract, ACallerWithAHigherLimitIsNoticed) {
  enters("ann");
  enters(visitor("bob").limit(3));
  EXPECT_TRUE(look().limits_disagree);
}

TEST_P(StoreContract, ACallerWithASmallerLimitNeverMakesRoomNegative) {
  every_visitor.limit(3);
  for (const char* name : {"ann", "bob", "cid"}) enters(name);
  is_refused(visitor("dan").limit(1), Reason::full);
  EXPECT_EQ(look().counts.in_use, 3U);
}

TEST_P(StoreContract, RandomSequencesFollowACounter) {
  every_visitor.limit(4).ttl(1h);
  std::mt19937 random(5);
  std::vector<Token> inside;
  for (int i = 0; i < 2'000; ++i) {
    if (random() % 2 == 0) {
      const Answer answer = ask(visitor(std::to_string(i)));
      ASSERT_EQ(std::holds_alternative<Granted>(answer), inside.size() < 4);
      if (const auto* granted = std::get_if<Granted>(&answer)) inside.push_back(granted->token);
    } else if (!inside.empty()) {
      std::swap(inside[random() % inside.size()], inside.back());
      ASSERT_TRUE(releases(inside.back()));
      ASSERT_FALSE(releases(inside.back()));
      inside.pop_back();
    }
    ASSERT_EQ(store().counts(std::vector<GateName>{gate()}).at(0).in_use, inside.size());
  }
}

// --- queues ---

TEST_P(StoreContract, LeavingOneLineIsNotLeavingAnother) {
  for (const char* name : {"a", "b"}) {
    enters(visitor("holder").at(name));
    waits(visitor("ann").at(name));
  }
  EXPECT_TRUE(store().leave("b", VisitorId::named("ann")));
  EXPECT_THAT(line("a"), ElementsAre("ann"));
  EXPECT_EQ(waits(visitor("ann").at("a")).position, 1U);
  EXPECT_THAT(line("a"), ElementsAre("ann"));
}

TEST_P(StoreContract, LotteriesOfTwoGatesDoNotDisturbEachOther) {
  every_visitor.order(Order::lottery);
  std::vector<Token> held;
  for (const char* name : {"a", "b"}) {
    held.push_back(enters(visitor("holder").at(name)).token);
    waits(visitor("ann").at(name));
    waits(visitor("bob").at(name));
  }
  for (const auto& token : held) EXPECT_TRUE(releases(token));
  EXPECT_THAT(holders("a"), SizeIs(1));
  EXPECT_THAT(holders("b"), SizeIs(1));
  enters(visitor(holders("a")[0]).at("a"));
  enters(visitor(holders("b")[0]).at("b"));
}

TEST_P(StoreContract, ALotteryNeedsNobodyToTickIt) {
  every_visitor.order(Order::lottery);
  const Token holder = enters("holder").token;
  waits("ann");
  waits("bob");
  EXPECT_TRUE(releases(holder));
  EXPECT_THAT(handed(), SizeIs(1));
  EXPECT_EQ(waits("cid").position, 2U) << "not the winner's";
}

TEST_P(StoreContract, AskingWhetherThereIsRoomTakesNone) {
  every_visitor.rate({.count = 5, .period = 1min});
  const Token holder = enters("holder").token;
  for (int i = 0; i < 10; ++i) {
    (void)look();
    (void)store().counts(std::vector<GateName>{gate()});
  }
  EXPECT_TRUE(releases(holder));
  EXPECT_EQ(enters("ann").rate.remaining, 3U);
}

TEST_P(StoreContract, AHandOverIsARealReservation) {
  const Token holder = enters("holder").token;
  waits("ann");
  EXPECT_TRUE(releases(holder));
  for (int i = 0; i < 5; ++i) is_refused("thief" + std::to_string(i), Reason::full);
  is_refused(visitor("thief").barges(), Reason::full);
  enters("ann");
}

INSTANTIATE_TEST_SUITE_P(Stores, SeedRates, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
