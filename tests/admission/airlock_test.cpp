#include <poll.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "admission/support/log.hpp"
#include "admission/support/waiting_test.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "support/hooked_store.hpp"
#include "support/turnstile.hpp"

namespace airlock {
namespace {

constexpr const char* kGate = "erp";

class AirlockTest : public WaitingTest {
 protected:
  // Threads that sleep by the clock while somebody is in and a place waits: airlock-keep, airlock-enter,
  // and where the store is remote airlock-ask.
  const std::size_t sleepers_ = 2 + asking_threads();

  // A thread that waits at the gate, and has joined its line when this returns.
  template <typename Work>
  std::jthread waiter(Work work) {
    const std::uint32_t before = waiting(kGate);
    std::jthread thread(work);
    EXPECT_TRUE(eventually([&] { return waiting(kGate) == before + 1; }));
    return thread;
  }

  // A line that serves one in ten seconds; one is in.
  void serve_one_in_ten_seconds() {
    const auto ask = [](std::uint64_t number) {
      return Request{.gate = kGate,
                     .visitor = {1, number},
                     .permits = Permits{.limit = 1, .ttl = 1h},
                     .line = {.join = true, .patience = 1h}};
    };
    const Answer first = store_.admit(ask(1));
    (void)store_.admit(ask(2));
    clock_.advance(10s);
    EXPECT_TRUE(store_.release(std::get<Granted>(first).token));
    EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(ask(2))));
  }
};

TEST_P(AirlockTest, RefusesWrongOptionsWhenItIsMade) {
  EXPECT_THROW(Airlock(store_, kGate, {}), InvalidArgument) << "neither a limit nor rates";
  EXPECT_THROW(Airlock(store_, kGate, {.limit = 1, .ttl = 0s}), InvalidArgument);
  EXPECT_THROW(Airlock(store_, kGate, {.limit = 1, .max_hold = 0s}), InvalidArgument);
  EXPECT_THROW(Airlock(store_, kGate, {.limit = 1, .patience = 0s}), InvalidArgument);
  EXPECT_THROW(Airlock(Store(), kGate, {.limit = 1}), InvalidArgument);
  EXPECT_TRUE(store_.list().empty());
}

TEST_P(AirlockTest, TryEnterNeverWaits) {
  const Airlock airlock(store_, kGate, {.limit = 1});
  const Outcome<Lease> first = airlock.try_enter();
  ASSERT_TRUE(first);
  const Outcome<Lease> second = airlock.try_enter();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, Reason::full);
  EXPECT_EQ(second.error().retry_after, 30s);
  EXPECT_EQ(waiting(kGate), 0U);
}

TEST_P(AirlockTest, ARateOnlyAdmissionHoldsNothing) {
  const Airlock airlock(store_, kGate, {.rates = {{.count = 1, .period = 1min}}});
  {
    const Outcome<Lease> lease = airlock.enter();
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->fence(), 0U);
    EXPECT_TRUE(lease->valid());
  }
  EXPECT_EQ(airlock.try_enter().error().reason, Reason::rate);
}

TEST_P(AirlockTest, AWaiterIsInAsSoonAsTheHolderIsOut) {
  const Airlock airlock(store_, kGate, {.limit = 1});
  Outcome<Lease> holder = airlock.try_enter();
  Fence fence = 0;
  {
    const std::jthread thread = waiter([&] {
      const Outcome<Lease> lease = airlock.enter();
      fence = lease ? lease->fence() : 0;
    });
    holder->release();
  }
  EXPECT_GT(fence, 0U);
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(AirlockTest, AHundredWaitersAreServedInOrderOfArrival) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  Outcome<Lease> holder = airlock.try_enter();
  std::vector<int> order;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 100; ++i) {
    threads.push_back(waiter([&, i] {
      const Outcome<Lease> lease = airlock.enter();
      if (lease) order.push_back(i);  // One at a time, because the gate says so.
    }));
  }
  holder->release();
  threads.clear();
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_P(AirlockTest, ATimedOutWaiterLeavesAndTheLineMovesOn) {
  const Airlock airlock(store_, kGate, {.limit = 1});
  Outcome<Lease> holder = airlock.try_enter();
  std::optional<Outcome<Lease>> first;
  std::optional<Outcome<Lease>> second;
  {
    const std::jthread a = waiter([&] { first = airlock.try_enter_for(5s); });
    const std::jthread b = waiter([&] { second = airlock.try_enter_for(3600s); });
    ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 3; }));
    clock_.advance(5s);
    ASSERT_TRUE(eventually([&] { return waiting(kGate) == 1; }));
    holder->release();
  }
  ASSERT_FALSE(*first);
  EXPECT_EQ(first->error().reason, Reason::late);
  EXPECT_EQ(first->error().waited, 5s);
  EXPECT_TRUE(*second);
}

TEST_P(AirlockTest, AStopRequestEndsTheWait) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  const Outcome<Lease> holder = airlock.try_enter();
  std::stop_source stop;
  std::optional<Outcome<Lease>> outcome;
  {
    const std::jthread thread =
        waiter([&] { outcome = airlock.enter({.stop = stop.get_token()}); });
    stop.request_stop();
  }
  EXPECT_FALSE(*outcome);
  EXPECT_EQ(waiting(kGate), 0U);
}

TEST_P(AirlockTest, CloseEndsTheWait) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  const Outcome<Lease> holder = airlock.try_enter();
  std::atomic<bool> closed = false;
  {
    const std::jthread thread = waiter([&] {
      try {
        (void)airlock.enter();
      } catch (const StoreError& error) {
        closed = error.kind() == StoreError::Kind::closed;
        EXPECT_THAT(error.what(), ::testing::HasSubstr("this process has closed the store"));
      }
    });
    store_.close();
  }
  EXPECT_TRUE(closed);
  EXPECT_EQ(waiting(kGate), 0U);
}

TEST_P(AirlockTest, RefusesAtOnceWhenItWouldBeLate) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = 1s, .refuse_late = true});
  serve_one_in_ten_seconds();
  const Outcome<Lease> refused = airlock.enter();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::late);
  EXPECT_EQ(refused.error().waited, 0s);
}

TEST_P(AirlockTest, APlaceKnowsItsExpectedWaitOnceTheLineHasMoved) {
  const Airlock fresh(store_, "fresh", {.limit = 1, .max_wait = kForever});
  const Place in = fresh.join();
  const Place next = fresh.join();
  EXPECT_EQ(in.eta(), 0s) << "it is in";
  EXPECT_EQ(next.eta(), 0s) << "not known yet";

  serve_one_in_ten_seconds();
  const Airlock busy(store_, kGate, {.limit = 1, .max_wait = kForever});
  const Place first = busy.join();
  const Place second = busy.join();
  EXPECT_EQ(first.eta(), 10s);
  EXPECT_EQ(second.eta(), 20s);
}

TEST_P(AirlockTest, APlaceIsTakenHereAndWaitedForElsewhere) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  Place first = airlock.join();
  Place second = airlock.join();
  Place third = airlock.join();
  EXPECT_EQ(first.position(), 0U) << "it is in";
  EXPECT_EQ(second.position(), 1U);
  EXPECT_EQ(third.position(), 2U);
  std::vector<int> order;
  {
    std::vector<std::jthread> threads;
    const auto run = [&](Place& place, int number) {
      threads.emplace_back([&order, number, mine = std::move(place)]() mutable {
        const Outcome<Lease> lease = mine.wait();
        if (lease) order.push_back(number);
      });
    };
    run(third, 3);
    run(second, 2);
    run(first, 1);
  }
  EXPECT_THAT(order, ::testing::ElementsAre(1, 2, 3));
}

// Its thread comes to it only when its time is up; its turn came before.
TEST_P(AirlockTest, WhoWasHandedASlotInTimeIsIn) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = 500ms});
  Outcome<Lease> holder = airlock.try_enter();
  Place place = airlock.join();
  const auto has_asked_again = [&] { return store_.calls("admit") >= 3; };
  ASSERT_TRUE(eventually([&] { return has_asked_again() && clock_.waiting() >= sleepers_; }));
  Turnstile turnstile;
  Airlock(store_, "other", {.limit = 1}).enter_async({}, [&](Arrival&) { turnstile.pass(); });
  turnstile.await_somebody();
  holder->release();
  deliver_news();
  clock_.advance(600ms);
  turnstile.open();
  EXPECT_TRUE(place.wait());
}

TEST_P(AirlockTest, ATurnThatComesBeforeItIsWatchedForIsNotMissed) {
  Outcome<Lease> holder = Refused{};
  const HookedStore quick(store_, [&](std::string_view step) {
    if (step == "watch" && holder) holder->release();
  });
  const Airlock airlock(quick, kGate, {.limit = 1, .max_wait = kForever});
  holder = airlock.try_enter();
  { EXPECT_TRUE(airlock.enter()); }
  holder = airlock.try_enter();
  EXPECT_TRUE(airlock.join().wait());
}

TEST_P(AirlockTest, APlaceThatIsDroppedLeaves) {
  const Airlock airlock(store_, kGate, {.limit = 1});
  const Outcome<Lease> holder = airlock.try_enter();
  { const Place place = airlock.join(); }
  EXPECT_TRUE(eventually([&] { return waiting(kGate) == 0; }));
}

TEST_P(AirlockTest, APlaceIsWaitedForOnce) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  Place place = airlock.join();
  const Outcome<Lease> lease = place.wait();
  ASSERT_TRUE(lease);
  const Outcome<Lease> again = place.wait();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::late);
  place.leave();
  EXPECT_TRUE(lease->valid()) << "what was taken is not left";
  EXPECT_EQ(holders(kGate), 1U);
}

TEST_P(AirlockTest, APlaceWhoseStoreFailsKeepsTheCause) {
  std::atomic<int> asked = 0;
  const HookedStore failing(store_, [&](std::string_view step) {
    if (step != "admit") return;
    ++asked;
    throw StoreError(StoreError::Kind::busy, StoreError::Outcome::nothing_happened, "too hot");
  });
  Place place = Airlock(failing, kGate, {.limit = 1}).join();
  try {
    (void)place.wait();
    FAIL() << "it was let in";
  } catch (const SealAcquiringError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("too hot"));
  }
  EXPECT_EQ(asked, 1);
}

// Its thread would be needed by nobody.
TEST_P(AirlockTest, APlaceThatIsDecidedAtOnceStartsNoThread) {
  const auto has_thread = [] {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(thread.path() / "comm"), name);
      if (name == "airlock-enter") return true;
    }
    return false;
  };
  ASSERT_TRUE(eventually([&] { return !has_thread(); })) << "one of an earlier test has not ended";
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  Place place = airlock.join();
  EXPECT_EQ(place.position(), 0U);
  EXPECT_FALSE(has_thread());
  const Outcome<Lease> holder = place.wait();
  EXPECT_TRUE(holder);
  const Place waiting = airlock.join();
  EXPECT_TRUE(eventually(has_thread));
}

TEST_P(AirlockTest, APlaceThatWasLeftIsNotWaitedFor) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  const Outcome<Lease> holder = airlock.try_enter();
  Place place = airlock.join();
  place.leave();
  place.leave();
  EXPECT_FALSE(place.wait());
  EXPECT_TRUE(eventually([&] { return waiting(kGate) == 0; }));
}

TEST_P(AirlockTest, APlaceThatIsLeftEndsAWait) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  const Outcome<Lease> holder = airlock.try_enter();
  Place place = airlock.join();
  std::jthread waiter([&] { EXPECT_FALSE(place.wait()); });
  place.leave();
}

TEST_P(AirlockTest, APlaceThatIsReplacedLeaves) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  Place place = airlock.join();
  place = airlock.join();
  EXPECT_TRUE(place.wait()) << "the first one gave back what it had";
}

TEST_P(AirlockTest, APlaceKeepsItsTurnUntilItIsWaitedFor) {
  const Airlock airlock(store_, kGate, {.limit = 1, .ttl = 30s, .max_wait = kForever});
  Outcome<Lease> holder = airlock.try_enter();
  Place place = airlock.join();
  pass(60s, sleepers_);  // Longer than its patience.
  EXPECT_EQ(place.position(), 1U);
  holder->release();
  ASSERT_TRUE(eventually([&] { return place.position() == 0; }));
  pass(60s, sleepers_);  // Longer than its claim window and its ttl.
  EXPECT_TRUE(place.wait()->valid());
}

TEST_P(AirlockTest, ALostReplyInTheLineIsAskedAgain) {
  std::atomic<bool> loses = false;
  const HookedStore lossy(store_, [&](std::string_view step) {
    if (step != "admit" || !loses.exchange(false)) return;
    throw StoreError(StoreError::Kind::busy, StoreError::Outcome::unknown, "no reply");
  });
  const Airlock airlock(lossy, kGate, {.limit = 1, .max_wait = kForever});
  Outcome<Lease> holder = airlock.try_enter();
  std::optional<Outcome<Lease>> outcome;
  {
    const std::jthread thread = waiter([&] { outcome = airlock.enter(); });
    ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 2; }));
    loses = true;
    holder->release();
    ASSERT_TRUE(eventually([&] { return !loses && clock_.waiting() >= 2; }));
    clock_.advance(100ms);
  }
  EXPECT_TRUE(*outcome);
}

// News that cannot be asked for: it waits for its time instead of asking again and again.
TEST_P(AirlockTest, AFailingStoreIsNotAskedInALoopByWhoWaits) {
  std::atomic<int> asked = 0;
  std::atomic<bool> down = false;
  const HookedStore failing(store_, [&](std::string_view step) {
    if (step == "watch") ++asked;
    if (step != "admit" || !down) return;
    throw StoreError(StoreError::Kind::busy, StoreError::Outcome::nothing_happened, "busy");
  });
  const Airlock airlock(failing, kGate, {.limit = 1, .max_wait = kForever});
  Outcome<Lease> holder = airlock.try_enter();
  Place place = airlock.join();
  ASSERT_TRUE(eventually([&] { return asked > 0 && clock_.waiting() >= sleepers_; }));
  down = true;
  asked = 0;
  holder->release();
  pass(400ms, sleepers_);  // Within the claim window.
  EXPECT_EQ(asked, 0);
  down = false;
  pass(2s, sleepers_);
  EXPECT_TRUE(place.wait());
}

TEST_P(AirlockTest, WithTheStoreDownThePolicyDecides) {
  const Airlock closed(store_, kGate, {.limit = 1});
  const Airlock open(store_, kGate, {.limit = 1, .outage = Outage::open});
  const Airlock local(store_, kGate, {.limit = 9, .outage = Outage::local, .local_limit = 2});
  store_.down(true);
  EXPECT_THROW((void)closed.try_enter(), SealAcquiringError);
  const Outcome<Lease> any = open.try_enter();
  ASSERT_TRUE(any);
  EXPECT_FALSE(any->guarded());
  EXPECT_EQ(any->fence(), 0U);
  const Outcome<Lease> one = local.try_enter();
  const Outcome<Lease> two = local.enter();
  ASSERT_TRUE(one && two);
  EXPECT_FALSE(one->guarded());
  EXPECT_EQ(one->fence(), 0U) << "what nobody guards has no fence";
  EXPECT_TRUE(one->valid());
  EXPECT_FALSE(local.try_enter());
  store_.down(false);
  EXPECT_TRUE(is_left_with(0, kGate)) << "the store knows of none of them";
}

// Gives back before it returns: nothing in the background meets the next planned failure.
bool is_guarded(Outcome<Lease> lease) {
  const bool guarded = lease.value().guarded();
  lease->release();
  return guarded;
}

TEST_P(AirlockTest, AFailureIsNotHeldAgainstTheNextCall) {
  const Airlock airlock(store_, kGate, {.limit = 1, .outage = Outage::open});
  for (const auto kind : {StoreError::Kind::unavailable, StoreError::Kind::busy,
                          StoreError::Kind::no_room, StoreError::Kind::incompatible}) {
    store_.fail_next(1, kind);
    try {
      EXPECT_FALSE(is_guarded(airlock.try_enter()));
    } catch (const SealAcquiringError&) {
      EXPECT_NE(kind, StoreError::Kind::unavailable);
    }
    EXPECT_TRUE(is_guarded(airlock.try_enter())) << "it is asked, and answers";
  }
}

TEST_P(AirlockTest, OnlyAnOutageLetsAnybodyPast) {
  for (const Outage outage : {Outage::open, Outage::local}) {
    const auto log = std::make_shared<Log>();
    const Airlock airlock(store_, kGate, {.limit = 1, .outage = outage, .observer = log});
    for (const auto kind :
         {StoreError::Kind::busy, StoreError::Kind::no_room, StoreError::Kind::incompatible}) {
      store_.fail_next(1, kind);
      EXPECT_THROW((void)airlock.try_enter(), SealAcquiringError);
      store_.fail_next(1, kind);
      EXPECT_THROW((void)airlock.try_enter_for(1s), SealAcquiringError);
      EXPECT_EQ(log->last().kind, Event::Kind::failed);
    }
    store_.fail_next(1, StoreError::Kind::unavailable);
    EXPECT_FALSE(is_guarded(airlock.try_enter()));
    store_.fail_next(1, StoreError::Kind::unavailable);
    EXPECT_FALSE(is_guarded(airlock.try_enter_for(1s)));
  }
}

TEST_P(AirlockTest, TheObserverHearsEveryDecision) {
  const auto log = std::make_shared<Log>();
  const Airlock airlock(store_, kGate, {.limit = 1, .observer = log});
  const Outcome<Lease> holder = airlock.try_enter();
  (void)airlock.try_enter();
  EXPECT_THAT(log->kinds(), ::testing::ElementsAre(Event::Kind::granted, Event::Kind::refused));
  EXPECT_EQ(log->last().reason, Reason::full);
}

TEST_P(AirlockTest, AThrowingObserverLeaksNothing) {
  struct Thrower : Observer {
    void on(const Event& /*event*/) override { throw std::runtime_error("not my day"); }
  };
  const Airlock airlock(store_, kGate, {.limit = 1, .observer = std::make_shared<Thrower>()});
  const std::uint64_t before = observer_failures();
  { const Outcome<Lease> lease = airlock.try_enter(); }
  EXPECT_EQ(observer_failures(), before + 1);
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(AirlockTest, WithAdmittedRunsInside) {
  const Airlock airlock(store_, kGate, {.limit = 1});
  const Outcome<std::uint32_t> inside =
      airlock.with_admitted({}, [&](Lease& /*lease*/) { return holders(kGate); });
  ASSERT_TRUE(inside);
  EXPECT_EQ(*inside, 1U);
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(AirlockTest, AnAsyncEntryCallsBackWhenItIsItsTurn) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  Outcome<Lease> holder = airlock.try_enter();
  std::atomic<int> in = 0;
  for (int i = 0; i < 10; ++i) {
    airlock.enter_async({}, [&](Arrival& arrival) { in += arrival.take().has_value() ? 1 : 0; });
  }
  const auto are_taken = [&] { return waiting(kGate) == 10U; };
  const bool is_local = internal::backend_of(store_)->is_local();
  EXPECT_TRUE(is_local ? are_taken() : eventually(are_taken)) << "the places are taken";
  EXPECT_EQ(in, 0);
  holder->release();
  EXPECT_TRUE(eventually([&] { return in == 10; }));
  EXPECT_TRUE(eventually([&] { return holders(kGate) == 0; }));
}

TEST_P(AirlockTest, AnAsyncEntryTimesOutIsStoppedAndClosed) {
  const Airlock airlock(store_, kGate, {.limit = 1, .max_wait = kForever});
  const Outcome<Lease> holder = airlock.try_enter();
  std::atomic<int> late = 0;
  std::atomic<int> closed = 0;
  const auto count = [&](Arrival& arrival) {
    try {
      late += arrival.take().has_value() ? 0 : 1;
    } catch (const StoreError& error) {
      closed += error.kind() == StoreError::Kind::closed ? 1 : 0;
    }
  };
  std::stop_source stop;
  airlock.enter_async_for(5s, {}, count);
  airlock.enter_async({.stop = stop.get_token()}, count);
  airlock.enter_async({}, count);
  airlock.enter_async_for(0s, {}, count);
  EXPECT_TRUE(eventually([&] { return late == 1; })) << "one attempt was all it wanted";
  stop.request_stop();
  EXPECT_TRUE(eventually([&] { return late == 2; }));
  pass(5s);
  EXPECT_TRUE(eventually([&] { return late == 3; }));
  store_.close();
  EXPECT_TRUE(eventually([&] { return closed == 1; }));
  EXPECT_EQ(waiting(kGate), 0U);
}

TEST_P(AirlockTest, AMailboxBringsCallbacksToAThreadOfYours) {
  const Airlock airlock(store_, kGate, {.limit = 1});
  Mailbox mailbox;
  pollfd event{.fd = mailbox.fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&event, 1, 0), 0);
  std::thread::id where;
  airlock.enter_async(
      {},
      [&](Arrival& arrival) {
        EXPECT_TRUE(arrival.take());
        where = std::this_thread::get_id();
      },
      mailbox);
  ASSERT_EQ(poll(&event, 1, 10'000), 1);
  EXPECT_EQ(holders(kGate), 1U);
  EXPECT_EQ(mailbox.run(), 1U);
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_TRUE(is_left_with(0, kGate));
  EXPECT_EQ(poll(&event, 1, 0), 0);
}

TEST_P(AirlockTest, AThrowingCallbackGivesBackWhatItWasGiven) {
  const Airlock airlock(store_, kGate, {.limit = 1});
  const std::uint64_t before = observer_failures();
  airlock.enter_async({}, [](Arrival& arrival) {
    const Outcome<Lease> lease = arrival.take();
    throw std::runtime_error("not my day");
  });
  EXPECT_TRUE(eventually([&] { return observer_failures() == before + 1; }));
  EXPECT_TRUE(is_left_with(0, kGate));
}

TEST_P(AirlockTest, ACallbackMayEnterAgain) {
  const Airlock airlock(store_, kGate, {.limit = 1});
  std::atomic<int> entered = 0;
  std::function<void(Arrival&)> again = [&](Arrival& arrival) {
    const Outcome<Lease> lease = arrival.take();
    if (++entered < 3) airlock.enter_async({}, again);
  };
  airlock.enter_async({}, again);
  EXPECT_TRUE(eventually([&] { return entered == 3; }));
}

AIRLOCK_WAITING_SUITE(AirlockTest);

}  // namespace
}  // namespace airlock
