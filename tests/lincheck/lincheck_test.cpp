#include <gtest/gtest.h>

#include "lincheck/support/check.hpp"
#include "lincheck/support/gate_model.hpp"
#include "lincheck/support/minimal.hpp"
#include "lincheck/support/rate_model.hpp"
#include "lincheck/support/story.hpp"

// The checker: it takes what is right and finds what is wrong.

namespace airlock::lincheck {
namespace {

using namespace std::chrono_literals;

constexpr GateModel kLock{.limit = 1};

template <typename Model>
void expect_right(const Model& model, const History& history) {
  EXPECT_EQ(check(model, history), Verdict::explained) << text(history);
}
template <typename Model>
void expect_wrong(const Model& model, const History& history) {
  EXPECT_EQ(check(model, history), Verdict::wrong) << text(history);
}

// --- locks ---

TEST(LincheckLock, OneAfterTheOtherIsRight) {
  expect_right(kLock, in_order({ask(0).granted(7, 0), ask(1).refused(), release(0, 7).yes(),
                                ask(1).granted(8, 0), ask(1).repeated(8, 0), renew(1, 8).yes()}));
}

TEST(LincheckLock, TwoAtOnceAreWrong) {
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), ask(1).granted(8, 0)}));
}

TEST(LincheckLock, ARefusalWhileNobodyIsInIsWrong) {
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(0, 7).yes(), ask(1).refused(),
                                look(0).sees(0)}));
}

TEST(LincheckLock, AFenceThatDoesNotGrowIsWrong) {
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(0, 7).yes(), ask(1).granted(7, 0)}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(0, 7).yes(), ask(0).granted(6, 0)}));
}

TEST(LincheckLock, FencesOfAdmissionsThatOverlapComeInEitherOrder) {
  const auto overlapping = [](std::uint64_t first, std::uint64_t second) {
    return in_order({ask(0).granted(first, 0).from(10, 50), release(0, first).yes().from(60, 100),
                     ask(1).granted(second, 0).from(20, 70)});
  };
  expect_right(kLock, overlapping(7, 8));
  expect_wrong(kLock, overlapping(8, 7));
}

TEST(LincheckLock, AskingAgainGivesTheSameAdmission) {
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), ask(0).granted(8, 0)}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), ask(0).repeated(8, 0)}));
  expect_wrong(kLock, in_order({ask(0).repeated(7, 0)}));
  expect_right(kLock, in_order({ask(0).granted(7, 0), ask(1).as(0).repeated(7, 0)}));
}

TEST(LincheckLock, OnlyTheTokenThatIsInCanBeGivenBack) {
  expect_right(kLock, in_order({ask(0).granted(7, 0), release(1, 7).no(), release(0, 6).no()}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(1, 7).yes()}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(0, 6).yes()}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(0, 7).no()}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(0, 7).yes(), release(0, 7).yes()}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(0, 7).yes(), renew(0, 7).yes()}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), renew(0, 7).no()}));
}

TEST(LincheckLock, AReleaseThatFreedNothingIsWrong) {
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), release(0, 7).yes(), ask(1).refused()}));
}

TEST(LincheckLock, AnAnswerFromTheFutureIsWrong) {
  // Client 1 is told what only a release that is called later makes true.
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), ask(1).granted(8, 0).from(20, 30),
                                release(0, 7).yes().from(31, 40)}));
  expect_right(kLock, in_order({ask(0).granted(7, 0), ask(1).granted(8, 0).from(20, 31),
                                release(0, 7).yes().from(31, 40)}));
}

// --- what was never answered ---

TEST(LincheckUnanswered, MayHaveHappened) {
  expect_right(kLock, in_order({ask(0), ask(1).refused()}));
  expect_right(kLock, in_order({ask(0).granted(7, 0), release(0, 7), ask(1).granted(8, 0)}));
  expect_right(kLock, in_order({ask(0), ask(0).repeated(7, 0)}));
}

TEST(LincheckUnanswered, MayNotHaveHappened) {
  expect_right(kLock, in_order({ask(0), ask(1).granted(7, 0)}));
  expect_right(kLock, in_order({ask(0).granted(7, 0), release(0, 7), ask(1).refused()}));
}

TEST(LincheckUnanswered, MayHappenLate) {
  expect_right(kLock, in_order({ask(0).granted(7, 0), release(0, 7), ask(1).refused(),
                                ask(1).refused(), ask(1).granted(8, 0)}));
}

TEST(LincheckUnanswered, HappensOnceAtMostAndNotBeforeItsCall) {
  expect_wrong(kLock,
               in_order({ask(0).granted(7, 0), release(0, 7), ask(1).granted(8, 0),
                         release(1, 8).yes(), ask(0), ask(1).refused(), ask(0).granted(9, 0)}));
  expect_wrong(kLock, in_order({ask(1).refused(), ask(0)}));
}

TEST(LincheckDeath, EndsWhatTheClientHad) {
  expect_right(kLock, in_order({ask(0).granted(7, 0), death(0), ask(1).granted(8, 0)}));
  expect_right(kLock, in_order({ask(0).granted(7, 0), death(0), ask(1).refused()}));
  expect_right(kLock, in_order({ask(0), death(0).noticed(), ask(1).granted(8, 0)}));
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), ask(1).granted(8, 0), death(0)}));
}

TEST(LincheckDeath, ASlotThatDoesNotComeBackIsWrong) {
  expect_wrong(kLock, in_order({ask(0).granted(7, 0), death(0).noticed(), ask(1).refused()}));
  // Not even where it died while it asked: the dead ask no more.
  expect_wrong(kLock, in_order({ask(0), death(0).noticed(), ask(1).refused()}));
}

TEST(LincheckDeath, OfAWaiterLetsTheNextOneIn) {
  const History history =
      in_order({join(0).granted(7, 0), join(1).queued(1), join(2).queued(2), release(0, 7).yes(),
                death(1).noticed(), join(2).granted(9, 0)});
  expect_right(kLock, history);
}

// --- semaphores ---

constexpr GateModel kFour{.limit = 4};

TEST(LincheckSemaphore, WhatFitsIsLetInAndNothingElse) {
  expect_right(kFour, in_order({ask(0, 3).granted(7), ask(1, 2).refused(), ask(2, 1).granted(8, 0),
                                look(1).sees(4), release(0, 7).yes(), ask(1, 2).granted(9)}));
  expect_wrong(kFour, in_order({ask(0, 3).granted(7), ask(1, 2).granted(8)}));
  expect_wrong(kFour, in_order({ask(0, 3).granted(7), ask(1, 1).refused()}));
  expect_wrong(kFour, in_order({ask(0, 2).granted(7), ask(1, 2).granted(8), ask(2).granted(9, 0)}));
}

TEST(LincheckSemaphore, WhatIsInUseIsTheSumOfTheWeights) {
  expect_wrong(kFour, in_order({ask(0, 3).granted(7), look(1).sees(1)}));
  expect_wrong(kFour, in_order({ask(0, 3).granted(7), release(0, 7).yes(), look(1).sees(3)}));
  expect_right(kFour, in_order({ask(0, 3).granted(7).from(10, 50), look(1).sees(0).from(20, 30),
                                look(1).sees(3).from(31, 40)}));
  expect_wrong(kFour, in_order({ask(0, 3).granted(7).from(10, 50), look(1).sees(3).from(20, 30),
                                look(1).sees(0).from(31, 40)}));
}

TEST(LincheckSemaphore, AReleaseGivesTheWholeWeightBack) {
  expect_wrong(kFour, in_order({ask(0, 3).granted(7), release(0, 7).yes(), ask(1, 4).refused()}));
}

TEST(LincheckSemaphore, NobodySharesASlot) {
  expect_right(kFour, in_order({ask(0).granted(7, 0), ask(1).granted(8, 1), release(0, 7).yes(),
                                ask(2).granted(9, 0)}));
  expect_wrong(kFour, in_order({ask(0).granted(7, 0), ask(1).granted(8, 0)}));
  expect_wrong(kFour, in_order({ask(0).granted(7, 4)}));
  expect_wrong(kFour, in_order({ask(0).granted(7)}));
}

// --- lines ---

TEST(LincheckLine, WhoJoinedFirstIsHandedFirst) {
  const auto with = [](const Act& next) {
    return in_order({join(0).granted(7, 0), join(1).queued(1), join(2).queued(2), join(1).queued(1),
                     release(0, 7).yes(), next});
  };
  expect_right(kLock, with(join(1).granted(8, 0)));
  expect_right(kLock, with(join(2).queued(1)));
  expect_right(kLock, with(ask(3).refused()));
  expect_wrong(kLock, with(join(2).granted(8, 0)));
  expect_wrong(kLock, with(join(2).queued(2)));
  expect_wrong(kLock, with(join(1).queued(1)));
}

TEST(LincheckLine, AWaiterIsNotSkippedWhateverItAsksLater) {
  const auto claimed = [](std::uint64_t first, std::uint64_t second) {
    return in_order({join(0, 4).granted(7), join(1, 2).queued(1), join(2, 2).queued(2),
                     release(0, 7).yes(), join(2, 2).granted(second), join(1, 2).granted(first)});
  };
  expect_right(kFour, claimed(8, 9));
  expect_wrong(kFour, claimed(9, 8));
}

TEST(LincheckLine, NobodyPassesTheLine) {
  expect_wrong(kFour,
               in_order({join(0, 3).granted(7), join(1, 2).queued(1), ask(2).granted(8, 0)}));
  expect_wrong(kFour,
               in_order({join(0, 3).granted(7), join(1, 2).queued(1), join(2).granted(8, 0)}));
  expect_wrong(kFour, in_order({join(0).queued(1)}));
}

TEST(LincheckLine, AHandOverIsInUse) {
  const auto with = [](const Act& next) {
    return in_order({join(0).granted(7, 0), join(1).queued(1), release(0, 7).yes(), next});
  };
  expect_right(kLock, with(look(2).sees(1)));
  expect_wrong(kLock, with(look(2).sees(0)));
  expect_wrong(kLock, with(ask(2).granted(8, 0)));
}

TEST(LincheckLine, WhoLeavesMakesRoom) {
  const auto with = [](const Act& next) {
    return in_order({join(0, 3).granted(7), join(1, 4).queued(1), join(2).queued(2), leave(1).yes(),
                     leave(1).no(), next});
  };
  expect_right(kFour, with(join(2).granted(8, 0)));
  expect_wrong(kFour, with(join(2).queued(1)));
  expect_wrong(kFour, in_order({join(0).granted(7, 0), leave(0).yes()}));
  expect_wrong(kFour, in_order({join(0, 4).granted(7), join(1).queued(1), leave(1).no()}));
}

TEST(LincheckLine, AHandOverThatIsLeftGoesToTheNext) {
  const auto with = [](const Act& next) {
    return in_order({join(0).granted(7, 0), join(1).queued(1), join(2).queued(2),
                     release(0, 7).yes(), leave(1).yes(), next});
  };
  expect_right(kLock, with(join(2).granted(9, 0)));
  expect_wrong(kLock, with(join(2).queued(1)));
}

// --- rates ---

Act at(Time time, const Act& act) { return act.from(time, time + 1'000); }

TEST(LincheckRate, GcraPassesTheBurstAndThenThePace) {
  const RateModel model{.rate = {.count = 10, .period = 1ms, .burst = 2}};  // One in 100 us.
  expect_right(model, in_order({at(1'000'000, take(0).granted()), at(1'002'000, take(0).granted()),
                                at(1'004'000, take(0).refused()), at(1'099'000, take(0).refused()),
                                at(1'103'000, take(0).granted())}));
  expect_wrong(model, in_order({at(1'000'000, take(0).granted()), at(1'002'000, take(0).granted()),
                                at(1'090'000, take(0).granted())}));
  expect_wrong(model,
               in_order({at(1'000'000, take(0).granted()), at(1'002'000, take(0).refused())}));
  expect_wrong(model,
               in_order({at(1'000'000, take(0, 2).granted()), at(1'110'000, take(0).refused())}));
  expect_wrong(
      model, in_order({at(1'000'000, take(0, 2).granted()), at(1'110'000, take(0, 2).granted())}));
}

TEST(LincheckRate, GcraAtTheEdgeIsEither) {
  const RateModel model{.rate = {.count = 10, .period = 1ms, .burst = 1}};
  for (const bool passes : {true, false}) {
    const Act edge = passes ? take(0).granted() : take(0).refused();
    expect_right(model,
                 in_order({at(1'000'000, take(1).granted()), edge.from(1'090'000, 1'110'000)}));
  }
}

TEST(LincheckRate, AnUnansweredOneMayHaveTaken) {
  const RateModel model{.rate = {.count = 10, .period = 1ms, .burst = 1}};
  const Act lost = take(1).from(1'000'000, kNever);
  expect_right(model, in_order({lost, at(1'010'000, take(0).granted())}));
  expect_right(model, in_order({lost, at(1'010'000, take(0).refused())}));
  expect_wrong(
      model, in_order({lost, at(1'010'000, take(0).refused()), at(1'112'000, take(0).refused())}));
}

TEST(LincheckRate, AFixedWindowBeginsWithTheFirstHit) {
  using enum Rate::Algorithm;
  const RateModel model{.rate = {.count = 2, .period = 1ms, .algorithm = fixed_window}};
  const Act first = at(5'500'000, take(0).granted());
  const Act second = at(6'400'000, take(0).granted());
  expect_right(model, in_order({first, second, at(6'450'000, take(0).refused()),
                                at(6'510'000, take(0, 2).granted())}));
  expect_wrong(model, in_order({first, second, at(6'450'000, take(0).granted())}));
  expect_wrong(model, in_order({first, second, at(6'510'000, take(0).refused())}));
  expect_wrong(model, in_order({first, at(6'400'000, take(0, 2).granted())}));
}

TEST(LincheckRate, ASlidingWindowCountsTheOneBeforeByItsOverlap) {
  using enum Rate::Algorithm;
  const RateModel model{.rate = {.count = 4, .period = 1ms, .algorithm = sliding_window}};
  const Act all = at(5'500'000, take(0, 4).granted());
  expect_right(model,
               in_order({all, at(5'900'000, take(0).refused()), at(6'200'000, take(0).refused()),
                         at(6'260'000, take(0).granted()), at(6'270'000, take(0).refused()),
                         at(7'800'000, take(0).granted())}));
  expect_wrong(model, in_order({all, at(5'900'000, take(0).granted())}));
  expect_wrong(model, in_order({all, at(6'200'000, take(0).granted())}));
  expect_wrong(model, in_order({all, at(6'260'000, take(0).refused())}));
  expect_wrong(model, in_order({all, at(7'010'000, take(0).refused())}));
}

// --- the search ---

History crowd(std::uint8_t clients) {
  History history;
  for (std::uint8_t i = 0; i < clients; ++i) history.push_back(ask(i).from(10, kNever));
  history.push_back(look(clients).sees(1'000).from(20, 30));
  return history;
}

TEST(Lincheck, GivesUpWhereThereIsTooMuchToTry) {
  EXPECT_EQ(check(GateModel{.limit = 100}, crowd(30), 10'000), Verdict::gave_up);
  EXPECT_EQ(check(GateModel{.limit = 100}, crowd(5)), Verdict::wrong);
}

TEST(Lincheck, LongHistoriesAreNoTrouble) {
  History history;
  for (Time i = 0; i < 2'000; ++i) {
    const auto client = static_cast<std::uint8_t>(i % 4);
    const auto fence = static_cast<std::uint64_t>(i + 1);
    history.push_back(ask(client).granted(fence, 0).from(20 * i, 20 * i + 15));
    history.push_back(release(client, fence).yes().from(20 * i + 16, 20 * i + 25));
  }
  expect_right(kLock, history);
  history.push_back(release(0, 1).yes().from(20'000, 50'000));
  expect_wrong(kLock, history);
}

TEST(Lincheck, ShowsTheLeastThatIsWrong) {
  History history = in_order({ask(0).granted(70, 0), ask(1).refused(), release(0, 70).yes(),
                              look(2).sees(0), ask(1).granted(80, 0), renew(1, 80).yes(),
                              ask(2).refused(), ask(0).granted(90, 0), look(2).sees(1)});
  for (Operation& operation : history) {
    operation.called *= 100;
    operation.returned *= 100;
  }
  EXPECT_EQ(
      Minimal<GateModel>(kLock, history).text(),
      "  called us  returned us\n"
      "        4.0        4.5   client 1: ask visitor 1 weight 1 -> granted, fence 2, slot 0\n"
      "        7.0        7.5   client 0: ask visitor 0 weight 1 -> granted, fence 3, slot 0\n"
      "  and 6 others, of which each may have happened or not\n");
}

}  // namespace
}  // namespace airlock::lincheck
