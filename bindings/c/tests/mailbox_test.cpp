#include <algorithm>
#include <map>
#include <random>
#include <semaphore>

#include "support.hpp"

namespace airlock::c_test {
namespace {

class CMailbox : public StoreTest {
 protected:
  static void ask(const Gate& gate, const Mailbox& mailbox, std::uint64_t tag,
                  std::int64_t max_wait = kSoon) {
    Error error;
    ASSERT_EQ(airlock_enter_async(gate.get(), nullptr, max_wait, mailbox.get(), tag, &error),
              AIRLOCK_DONE)
        << error.text;
  }

  // Nobody is in, nobody waits, and what was given back has arrived.
  [[nodiscard]] bool is_empty(std::string_view name) const {
    return eventually([&] {
      const auto now = counts(name);
      return now.in_use == 0 && now.waiting == 0;
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, CMailbox, testing::ValuesIn(stores()), name_of);

TEST_P(CMailbox, ItIsReadableExactlyWhileThereIsAnEvent) {
  const Gate erp = gate("erp", limit_of(2));
  const Mailbox mailbox = new_mailbox();
  Event event;
  EXPECT_FALSE(has_event(mailbox.get()));
  EXPECT_EQ(airlock_mailbox_next(mailbox.get(), &event, nullptr, nullptr), AIRLOCK_NOTHING);
  ask(erp, mailbox, 1);
  ask(erp, mailbox, 2);
  const Event first = next_event(mailbox.get());
  const Lease a(first.lease);
  EXPECT_EQ(first.kind, AIRLOCK_EVENT_GRANTED);
  EXPECT_GT(first.answer.fence, 0U);
  EXPECT_TRUE(has_event(mailbox.get(), kSoonMs));
  const Event second = next_event(mailbox.get());
  const Lease b(second.lease);
  EXPECT_EQ(first.tag + second.tag, 3U);
  EXPECT_FALSE(has_event(mailbox.get()));
  EXPECT_EQ(airlock_lease_valid(a.get()) + airlock_lease_valid(b.get()), 2);
}

TEST_P(CMailbox, AWaitEndsByAGrantARefusalOrACancellation) {
  const Gate erp = gate("erp", limit_of(1));
  Lease holder = enter(erp);
  const Mailbox mailbox = new_mailbox();
  ask(erp, mailbox, 1, 10 * AIRLOCK_MILLISECOND);
  const Event late = next_event(mailbox.get());
  EXPECT_EQ(late.kind, AIRLOCK_EVENT_REFUSED);
  EXPECT_EQ(late.tag, 1U);
  EXPECT_EQ(late.answer.reason, AIRLOCK_REASON_LATE);
  EXPECT_EQ(late.lease, nullptr);

  ask(erp, mailbox, 2);
  ASSERT_TRUE(is_waiting("erp"));
  EXPECT_EQ(airlock_mailbox_cancel(mailbox.get(), 3, nullptr), AIRLOCK_NOTHING);
  EXPECT_EQ(airlock_mailbox_cancel(mailbox.get(), 2, nullptr), AIRLOCK_DONE);
  const Event cancelled = next_event(mailbox.get());
  EXPECT_EQ(cancelled.kind, AIRLOCK_EVENT_CANCELLED);
  EXPECT_EQ(cancelled.tag, 2U);
  EXPECT_EQ(airlock_mailbox_cancel(mailbox.get(), 2, nullptr), AIRLOCK_NOTHING);
  EXPECT_TRUE(is_waiting("erp", 0));

  ask(erp, mailbox, 4);
  ASSERT_TRUE(is_waiting("erp"));
  holder.reset();
  const Event granted = next_event(mailbox.get());
  const Lease lease(granted.lease);
  EXPECT_EQ(granted.kind, AIRLOCK_EVENT_GRANTED);
  EXPECT_EQ(granted.tag, 4U);
  EXPECT_GT(granted.answer.waited, 0);
}

TEST_P(CMailbox, TwoWaitsWithOneTagAreCancelledTogether) {
  const Gate erp = gate("erp", limit_of(1));
  const Lease holder = enter(erp);
  const Mailbox mailbox = new_mailbox();
  ask(erp, mailbox, 7);
  ask(erp, mailbox, 7);
  ASSERT_TRUE(is_waiting("erp", 2));
  EXPECT_EQ(airlock_mailbox_cancel(mailbox.get(), 7, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(next_event(mailbox.get()).kind, AIRLOCK_EVENT_CANCELLED);
  EXPECT_EQ(next_event(mailbox.get()).kind, AIRLOCK_EVENT_CANCELLED);
  EXPECT_FALSE(has_event(mailbox.get()));
}

TEST_P(CMailbox, FreeingItGivesBackWhatIsInItAndLeavesTheLine) {
  const Gate erp = gate("erp", limit_of(1));
  Mailbox mailbox = new_mailbox();
  ask(erp, mailbox, 1);
  ASSERT_TRUE(has_event(mailbox.get(), kSoonMs));
  ask(erp, mailbox, 2);
  ASSERT_TRUE(is_waiting("erp"));
  mailbox.reset();
  EXPECT_TRUE(is_empty("erp"));
}

// At once, and not when the events would have come.
TEST_P(CMailbox, FreeingItDoesNotWaitForOthers) {
  const Gate erp = gate("erp", limit_of(2));
  const Lease watched = enter(erp);
  Mailbox mailbox = new_mailbox();
  ASSERT_EQ(airlock_lease_watch(watched.get(), mailbox.get(), 1, nullptr), AIRLOCK_DONE);
  ask(erp, mailbox, 2);
  ASSERT_TRUE(has_event(mailbox.get(), kSoonMs));
  ask(erp, mailbox, 3);
  ASSERT_TRUE(is_waiting("erp"));
  mailbox.reset();
  EXPECT_TRUE(is_waiting("erp", 0));
  EXPECT_TRUE(eventually([&] { return counts("erp").in_use == 1; }));

  const Lease second = enter(erp, kSoon);
  mailbox = new_mailbox();
  ask(erp, mailbox, 4);
  ASSERT_TRUE(is_waiting("erp"));
  mailbox.reset();
  EXPECT_TRUE(is_waiting("erp", 0));
}

TEST_P(CMailbox, AWrongAskMakesNoEvent) {
  const Gate erp = gate("erp", limit_of(1));
  const Mailbox mailbox = new_mailbox();
  auto wrong = sized<airlock_ask>();
  wrong.weight = 2;
  Error error;
  EXPECT_EQ(airlock_enter_async(erp.get(), &wrong, 0, mailbox.get(), 1, &error), AIRLOCK_INVALID);
  EXPECT_EQ(airlock_mailbox_cancel(mailbox.get(), 1, nullptr), AIRLOCK_NOTHING);
  EXPECT_FALSE(has_event(mailbox.get()));
}

TEST_P(CMailbox, WhatIsAnsweredAtOnceMakesNoEvent) {
  const Gate erp = gate("erp", limit_of(1));
  const Mailbox mailbox = new_mailbox();
  const auto begin = [&](std::uint64_t tag, std::int64_t max_wait, Lease& lease,
                         airlock_answer* answer) {
    Error error;
    return airlock_enter_begin(erp.get(), nullptr, max_wait, mailbox.get(), tag, Into(lease),
                               answer, &error);
  };
  // A store that may block is asked elsewhere, and answers by an event.
  Lease lease;
  Answer answer;
  const std::int32_t status = begin(1, kSoon, lease, &answer);
  if (status == AIRLOCK_QUEUED) {
    EXPECT_EQ(lease, nullptr);
    lease.reset(next_event(mailbox.get()).lease);
  } else {
    EXPECT_EQ(status, AIRLOCK_DONE);
    EXPECT_GT(answer.fence, 0U);
  }
  ASSERT_EQ(airlock_lease_valid(lease.get()), 1);
  EXPECT_FALSE(has_event(mailbox.get()));

  Lease none;
  const std::int32_t refused = begin(2, 0, none, &answer);
  EXPECT_EQ(refused == AIRLOCK_QUEUED ? next_event(mailbox.get()).kind : AIRLOCK_EVENT_REFUSED,
            AIRLOCK_EVENT_REFUSED);
  EXPECT_EQ(none, nullptr);
  if (refused == AIRLOCK_REFUSED) {
    EXPECT_EQ(answer.reason, AIRLOCK_REASON_FULL);
  }

  EXPECT_EQ(begin(3, kSoon, none, nullptr), AIRLOCK_QUEUED);
  ASSERT_TRUE(is_waiting("erp"));
  lease.reset();
  const Event granted = next_event(mailbox.get());
  lease.reset(granted.lease);
  EXPECT_EQ(granted.tag, 3U);
  EXPECT_EQ(granted.kind, AIRLOCK_EVENT_GRANTED);
}

// --- Lost leases ---

TEST_P(CMailbox, ALostLeaseIsAnEvent) {
  const Gate erp = gate("erp", limit_of(1));
  const Lease lease = enter(erp);
  const Mailbox mailbox = new_mailbox();
  const Mailbox second = new_mailbox();
  ASSERT_EQ(airlock_lease_watch(lease.get(), mailbox.get(), 5, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_lease_watch(lease.get(), second.get(), 6, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_mailbox_cancel(mailbox.get(), 5, nullptr), AIRLOCK_NOTHING);  // It is no wait.
  EXPECT_FALSE(has_event(mailbox.get()));
  ASSERT_EQ(airlock_revoke(store(), text(own("erp")), nullptr, 1, nullptr, nullptr), AIRLOCK_DONE);
  const Event lost = next_event(mailbox.get());
  EXPECT_EQ(lost.kind, AIRLOCK_EVENT_LOST);
  EXPECT_EQ(lost.tag, 5U);
  EXPECT_EQ(next_event(second.get()).tag, 6U);
  EXPECT_EQ(airlock_lease_valid(lease.get()), 0);
}

TEST_P(CMailbox, ALeaseThatEndedInTimeIsNeverLost) {
  const Gate erp = gate("erp", limit_of(3));
  const Mailbox mailbox = new_mailbox();
  Lease freed = enter(erp);
  const Lease released = enter(erp);
  const Lease detached = enter(erp);
  ASSERT_EQ(airlock_lease_watch(freed.get(), mailbox.get(), 1, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_lease_watch(released.get(), mailbox.get(), 2, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_lease_watch(detached.get(), mailbox.get(), 3, nullptr), AIRLOCK_DONE);
  freed.reset();
  EXPECT_EQ(airlock_lease_release(released.get(), nullptr), AIRLOCK_DONE);
  char token[AIRLOCK_TOKEN_SIZE];
  EXPECT_EQ(airlock_lease_detach(detached.get(), token, nullptr), AIRLOCK_DONE);
  Error error;
  EXPECT_EQ(airlock_lease_watch(released.get(), mailbox.get(), 4, &error), AIRLOCK_INVALID);

  // A loss that is heard of afterwards: the three would have been heard of before.
  const Lease lease = enter(erp);
  ASSERT_EQ(airlock_lease_watch(lease.get(), mailbox.get(), 9, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_revoke(store(), text(own("erp")), nullptr, 1, nullptr, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(next_event(mailbox.get()).tag, 9U);
  EXPECT_FALSE(has_event(mailbox.get()));
}

TEST_P(CMailbox, FreeingALostLeaseTakesItsEventBack) {
  const Gate erp = gate("erp", limit_of(1));
  Lease lease = enter(erp);
  const Mailbox mailbox = new_mailbox();
  ASSERT_EQ(airlock_lease_watch(lease.get(), mailbox.get(), 5, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_revoke(store(), text(own("erp")), nullptr, 1, nullptr, nullptr), AIRLOCK_DONE);
  ASSERT_TRUE(has_event(mailbox.get(), kSoonMs));
  lease.reset();
  EXPECT_FALSE(has_event(mailbox.get()));
  Event event;
  EXPECT_EQ(airlock_mailbox_next(mailbox.get(), &event, nullptr, nullptr), AIRLOCK_NOTHING);
}

TEST_P(CMailbox, AMailboxMayBeFreedBeforeTheLeaseThatItWatches) {
  const Gate erp = gate("erp", limit_of(1));
  const Lease lease = enter(erp);
  Mailbox mailbox = new_mailbox();
  ASSERT_EQ(airlock_lease_watch(lease.get(), mailbox.get(), 5, nullptr), AIRLOCK_DONE);
  mailbox.reset();
  ASSERT_EQ(airlock_revoke(store(), text(own("erp")), nullptr, 1, nullptr, nullptr), AIRLOCK_DONE);
  EXPECT_TRUE(eventually([&] { return airlock_lease_valid(lease.get()) == 0; }));
}

// --- Races ---

// Threads that ask and cancel at random, and one that takes out.
TEST_P(CMailbox, RandomCancellationsLoseNothing) {
  constexpr std::uint64_t kEach = 2500;
  constexpr std::uint64_t kThreads = 4;
  const Gate erp = gate("erp", limit_of(3));
  const Mailbox mailbox = new_mailbox();
  std::counting_semaphore<> free_places(256);  // A longer line than that helps nobody.
  const auto work = [&](std::uint64_t number) {
    std::minstd_rand random(static_cast<unsigned>(number + 1));
    for (std::uint64_t at = 0; at < kEach; ++at) {
      free_places.acquire();
      const std::uint64_t tag = number * kEach + at;
      ask(erp, mailbox, tag);
      const std::uint64_t other = number * kEach + random() % (at + 1);
      if (random() % 2 == 0)
        (void)airlock_mailbox_cancel(mailbox.get(), at % 8 < 6 ? tag : other, nullptr);
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t number = 0; number < kThreads; ++number) threads.emplace_back(work, number);

  std::vector<int> events(kThreads * kEach);
  std::map<int, int> kinds;
  std::vector<Lease> held;
  for (std::uint64_t answered = 0; answered < kThreads * kEach; ++answered) {
    const Event event = next_event(mailbox.get());
    EXPECT_TRUE(event.kind == AIRLOCK_EVENT_GRANTED || event.kind == AIRLOCK_EVENT_CANCELLED)
        << event.kind << " " << event.error.text;
    held.emplace_back(event.lease);
    if (held.size() >= 3) held.clear();
    ++events.at(event.tag);
    ++kinds[event.kind];
    free_places.release();
  }
  for (std::thread& thread : threads) thread.join();
  held.clear();
  EXPECT_TRUE(std::all_of(events.begin(), events.end(), [](int count) { return count == 1; }));
  EXPECT_GT(kinds[AIRLOCK_EVENT_GRANTED], 0);
  EXPECT_GT(kinds[AIRLOCK_EVENT_CANCELLED], 0);
  EXPECT_FALSE(has_event(mailbox.get()));
  EXPECT_TRUE(is_empty("erp"));
}

// Everything that a mailbox was to get is given back when it is freed meanwhile.
TEST_P(CMailbox, ArrivalsWhileItIsFreedAreGivenBack) {
  const Gate erp = gate("erp", limit_of(2));
  for (int round = 0; round < 200; ++round) {
    Mailbox mailbox = new_mailbox();
    Lease a = enter(erp, kSoon);
    Lease b = enter(erp, kSoon);
    for (std::uint64_t tag = 0; tag < 6; ++tag) ask(erp, mailbox, tag);
    std::thread releasing([&] {
      a.reset();
      b.reset();
    });
    (void)airlock_mailbox_cancel(mailbox.get(), static_cast<std::uint64_t>(round) % 6, nullptr);
    mailbox.reset();
    releasing.join();
  }
  EXPECT_TRUE(is_empty("erp"));
}

TEST_P(CMailbox, ALeaseMayBeFreedWhileItsLossIsReported) {
  const Gate erp = gate("erp", limit_of(1));
  const Mailbox mailbox = new_mailbox();
  for (int round = 0; round < 200; ++round) {
    Lease lease = enter(erp, kSoon);
    ASSERT_EQ(airlock_lease_watch(lease.get(), mailbox.get(), 1, nullptr), AIRLOCK_DONE);
    std::thread revoking([&] {
      EXPECT_EQ(airlock_revoke(store(), text(own("erp")), nullptr, 1, nullptr, nullptr),
                AIRLOCK_DONE);
    });
    if (round % 2 == 0) (void)has_event(mailbox.get(), 1);
    lease.reset();
    EXPECT_FALSE(has_event(mailbox.get()));
    revoking.join();
    EXPECT_FALSE(has_event(mailbox.get()));
  }
}

}  // namespace
}  // namespace airlock::c_test
