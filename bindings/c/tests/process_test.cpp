#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "support.hpp"
#include "support/in_child.hpp"

namespace airlock::c_test {
namespace {

using CProcess = StoreTest;
INSTANTIATE_TEST_SUITE_P(Stores, CProcess, testing::ValuesIn(stores()), name_of);

TEST_P(CProcess, AChildOwnsNoLeaseOfItsParent) {
  const Gate erp = gate("erp", limit_of(1));
  Lease lease = enter(erp);
  const Mailbox mailbox = new_mailbox();
  ASSERT_EQ(airlock_lease_watch(lease.get(), mailbox.get(), 1, nullptr), AIRLOCK_DONE);
  EXPECT_TRUE(holds_in_child([&] {
    char token[AIRLOCK_TOKEN_SIZE];
    const bool empty = airlock_lease_valid(lease.get()) == 0 &&
                       airlock_lease_fence(lease.get()) == 0 &&
                       airlock_lease_token(lease.get(), token, nullptr) == AIRLOCK_NOTHING &&
                       airlock_lease_release(lease.get(), nullptr) == AIRLOCK_DONE &&
                       airlock_lease_detach(lease.get(), token, nullptr) == AIRLOCK_GONE;
    lease.reset();
    return empty;
  }));
  EXPECT_EQ(airlock_lease_valid(lease.get()), 1);
  EXPECT_EQ(counts("erp").in_use, 1U);
  EXPECT_FALSE(has_event(mailbox.get()));
}

TEST_P(CProcess, NothingComesInAChildAndItMayFreeAll) {
  const Gate erp = gate("erp", limit_of(1));
  Lease lease = enter(erp);
  Mailbox mailbox = new_mailbox();
  ASSERT_EQ(airlock_enter_async(erp.get(), nullptr, kSoon, mailbox.get(), 1, nullptr),
            AIRLOCK_DONE);
  ASSERT_TRUE(is_waiting("erp"));
  EXPECT_TRUE(holds_in_child([&] {
    Error error;
    Event event;
    bool good =
        airlock_mailbox_next(mailbox.get(), &event, nullptr, &error) == AIRLOCK_NOTHING &&
        airlock_mailbox_cancel(mailbox.get(), 1, &error) == AIRLOCK_INVALID &&
        airlock_enter_async(erp.get(), nullptr, 0, mailbox.get(), 2, &error) == AIRLOCK_INVALID &&
        std::string_view(error.text).find("parent") != std::string_view::npos;
    mailbox.reset();
    lease.reset();

    // One of its own works: a store of memory is another one there, a shared one is full.
    const Mailbox own_mailbox = new_mailbox();
    good =
        good &&
        airlock_enter_async(erp.get(), nullptr, 0, own_mailbox.get(), 3, &error) == AIRLOCK_DONE &&
        has_event(own_mailbox.get(), kSoonMs) &&
        airlock_mailbox_next(own_mailbox.get(), &event, nullptr, &error) == AIRLOCK_DONE &&
        event.tag == 3;
    airlock_lease_free(event.lease);
    return good;
  }));
  EXPECT_FALSE(has_event(mailbox.get()));
  lease.reset();
  const Event granted = next_event(mailbox.get());
  EXPECT_EQ(granted.kind, AIRLOCK_EVENT_GRANTED);
  lease.reset(granted.lease);
}

// The fork comes at any moment of threads that use the mailbox.
TEST_P(CProcess, AChildOfABusyParentMayFreeAll) {
  const Gate erp = gate("erp", limit_of(2));
  const Mailbox mailbox = new_mailbox();
  std::atomic<bool> ends{false};
  std::thread busy([&] {
    std::vector<Lease> held;
    for (std::uint64_t tag = 0; !ends; ++tag) {
      EXPECT_EQ(airlock_enter_async(erp.get(), nullptr, kSoon, mailbox.get(), tag, nullptr),
                AIRLOCK_DONE);
      if (tag % 3 == 0) (void)airlock_mailbox_cancel(mailbox.get(), tag, nullptr);
      held.emplace_back(next_event(mailbox.get()).lease);
      if (held.back()) {
        EXPECT_EQ(airlock_lease_watch(held.back().get(), mailbox.get(), 1, nullptr), AIRLOCK_DONE);
      }
      if (held.size() >= 2) held.clear();
    }
  });
  for (int round = 0; round < 30; ++round) {
    EXPECT_TRUE(holds_in_child([&] {
      Event event;
      const bool nothing =
          airlock_mailbox_next(mailbox.get(), &event, nullptr, nullptr) == AIRLOCK_NOTHING;
      airlock_mailbox_free(mailbox.get());
      airlock_gate_free(erp.get());
      airlock_store_free(store());
      return nothing;
    }));
  }
  ends = true;
  busy.join();
}

// --- Signals ---

std::atomic<int> g_signals{0};

void count_signal(int /*signal*/) { ++g_signals; }

TEST_P(CProcess, ASignalEndsAWaitThatMayBeInterrupted) {
  struct sigaction action {};
  action.sa_handler = count_signal;
  action.sa_flags = SA_RESTART;  // poll(2) ends all the same.
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  const Gate erp = gate("erp", limit_of(1));
  const Lease holder = enter(erp);
  std::atomic<bool> ended{false};
  std::thread waiting([&] {
    auto ask = sized<airlock_ask>();
    ask.interruptible = 1;
    Lease none;
    Error error;
    EXPECT_EQ(airlock_enter(erp.get(), &ask, kSoon, Into(none), nullptr, &error),
              AIRLOCK_INTERRUPTED);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(error.status, 0);
    ended = true;
  });
  ASSERT_TRUE(is_waiting("erp"));
  // Again, because the first may come before the thread is in poll(2).
  EXPECT_TRUE(eventually([&] {
    if (!ended) pthread_kill(waiting.native_handle(), SIGUSR1);
    return ended.load();
  }));
  waiting.join();
  EXPECT_GT(g_signals, 0);
  EXPECT_TRUE(is_waiting("erp", 0));
}

TEST_P(CProcess, ASignalDoesNotEndAnotherWait) {
  struct sigaction action {};
  action.sa_handler = count_signal;
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  const Gate erp = gate("erp", limit_of(1));
  Lease holder = enter(erp);
  std::thread waiting([&] {
    const Lease lease = enter(erp, kSoon);
    EXPECT_NE(lease, nullptr);
  });
  ASSERT_TRUE(is_waiting("erp"));
  const int before = g_signals;
  pthread_kill(waiting.native_handle(), SIGUSR1);
  EXPECT_TRUE(eventually([&] { return g_signals > before; }));
  holder.reset();
  waiting.join();
}

// --- Descriptors ---

TEST_P(CProcess, WithoutDescriptorsThereIsNoMailbox) {
  const Gate erp = gate("erp", limit_of(1));
  const Lease holder = enter(erp);
  EXPECT_TRUE(holds_in_child([&] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) return false;
    Mailbox mailbox;
    Error error;
    return airlock_mailbox_open(Into(mailbox), &error) == AIRLOCK_FAILED && mailbox == nullptr &&
           error.kind == AIRLOCK_KIND_NO_ROOM && error.outcome == AIRLOCK_NOTHING_HAPPENED;
  }));
}

}  // namespace
}  // namespace airlock::c_test
