#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "admission/support/waiting_test.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/event_isolation.hpp"
#include "airlock/health_guard.hpp"
#include "airlock/mutex.hpp"
#include "airlock/store.hpp"
#include "support/hooked_store.hpp"
#include "support/in_child.hpp"

// What a forked child inherits is its parent's: it gives nothing back, waits for nothing and wakes
// nobody, and can begin anew. A memory store is empty in the child.

namespace airlock {
namespace {

class AForkedChild : public ::testing::Test {
 protected:
  [[nodiscard]] std::uint32_t holders(const GateName& gate) {
    const auto view = store_.look(gate);
    return view ? view->counts.holders : 0;
  }
  [[nodiscard]] std::uint32_t waiting(const GateName& gate) {
    const auto view = store_.look(gate);
    return view ? view->counts.waiting : 0;
  }

  // How often a child has changed something that may be its parent's.
  [[nodiscard]] int meddlings() const { return *count_; }

 private:
  using Count = std::atomic<int>;

  static Count* shared_count() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return new (page) Count(0);
  }

  void note(std::string_view step) {
    const bool changes = step == "release" || step == "leave" || step == "renew" ||
                         step == "resume" || step == "unwatch" || step == "disown";
    if (changes && getpid() != parent_) ++*count_;
  }

  pid_t parent_ = getpid();
  Count* count_ = shared_count();  // Stays mapped: a child may outlive this.

 protected:
  Store store_ = HookedStore(open_store("memory:"), [this](std::string_view step) { note(step); });
};

TEST_F(AForkedChild, OwnsNoLeaseOfItsParent) {
  const Airlock erp(store_, "erp", {.limit = 1});
  auto lease = std::make_unique<Lease>(erp.try_enter().value());
  EXPECT_TRUE(lease->lost().stop_possible());
  EXPECT_TRUE(holds_in_child([&] {
    const bool empty = !*lease && !lease->valid() && !lease->lost().stop_possible();
    Lease moved = std::move(*lease);
    moved.release();
    *lease = std::move(moved);
    lease.reset();
    return empty;
  }));
  EXPECT_EQ(meddlings(), 0);
  EXPECT_TRUE(lease->valid());
  EXPECT_NO_THROW(lease->release());
}

TEST_F(AForkedChild, EntersByTheSameAirlock) {
  const Airlock erp(store_, "erp", {.limit = 1});
  const Outcome<Lease> lease = erp.try_enter();
  EXPECT_TRUE(holds_in_child([&] {
    Outcome<Lease> mine = erp.enter();
    if (!mine || !mine->valid() || mine->lost().stop_requested()) return false;
    mine->release();
    return store_.drain(1s) && store_.flush(1s) && erp.try_enter().has_value();
  }));
  EXPECT_TRUE(lease->valid());
}

TEST_F(AForkedChild, DoesNotWaitInAPlaceOfItsParent) {
  const Airlock erp(store_, "erp", {.limit = 1, .max_wait = 1h});
  Outcome<Lease> lease = erp.try_enter();
  std::optional<Place> place = erp.join();
  EXPECT_EQ(place->position(), 1U);
  EXPECT_TRUE(holds_in_child([&] {
    const bool refused = !place->wait().has_value() && place->position() == 0;
    place->leave();
    place.reset();
    return refused;
  }));
  EXPECT_EQ(meddlings(), 0);
  EXPECT_EQ(waiting("erp"), 1U);
  lease->release();
  EXPECT_TRUE(place->wait());
}

TEST_F(AForkedChild, DoesNotGiveBackWhatAPlaceHasGot) {
  const Airlock erp(store_, "erp", {.limit = 1, .max_wait = 1h});
  std::optional<Place> place = erp.join();
  EXPECT_TRUE(holds_in_child([&] {
    place.reset();
    return true;
  }));
  EXPECT_EQ(meddlings(), 0);
  EXPECT_EQ(holders("erp"), 1U);
  EXPECT_TRUE(place->wait());
}

TEST_F(AForkedChild, HasNotLockedAMutexOfItsParent) {
  auto ledger = std::make_unique<Mutex>(store_, "ledger");
  auto catalog = std::make_unique<Mutex>(store_, "catalog");
  ledger->lock();
  catalog->lock_shared();
  EXPECT_TRUE(holds_in_child([&] {
    const bool unlocked = ledger->fence() == 0 && !ledger->valid();
    ledger->unlock();
    catalog->unlock_shared();
    if (meddlings() != 0) return false;
    const bool locked = ledger->try_lock() && ledger->fence() != 0;
    ledger->unlock();
    ledger.reset();
    catalog.reset();
    return unlocked && locked;
  }));
  EXPECT_TRUE(ledger->valid());
  EXPECT_EQ(holders("ledger"), 1U);
  ledger->unlock();
  catalog->unlock_shared();
  EXPECT_EQ(holders("ledger") + holders("catalog"), 0U);
}

// A thread that initialises a static of a function when another one forks leaves it locked in the
// child for ever. So there is none in what every child uses.
TEST(Initialisation, IsNeverLeftLockedInAForkedChild) {
  const std::string program = "nm -C /proc/" + std::to_string(getpid()) + "/exe 2>/dev/null";
  FILE* const symbols = popen(program.c_str(), "r");  // NOLINT(cert-env33-c): a test
  ASSERT_NE(symbols, nullptr);
  std::array<char, 4096> line{};
  std::size_t seen = 0;
  while (fgets(line.data(), line.size(), symbols) != nullptr) {
    const std::string_view text = line.data();
    if (text.find("airlock::internal::Keeper::of") != std::string_view::npos) ++seen;
    const bool is_guard = text.find("guard variable for airlock::internal::") != text.npos ||
                          text.find("guard variable for airlock::Clock::") != text.npos ||
                          text.find("guard variable for airlock::base::") != text.npos ||
                          text.find("guard variable for airlock::shm::") != text.npos ||
                          text.find("guard variable for airlock::memory::") != text.npos ||
                          text.find("guard variable for airlock::redis::") != text.npos;
    EXPECT_FALSE(is_guard) << text;
  }
  pclose(symbols);
  if (seen == 0) GTEST_SKIP() << "NOT RUN: nm shows no symbols of this program";
}

TEST_F(AForkedChild, DoesNotSpeakForAHealthGuard) {
  std::atomic<double> health = 0;
  const HealthGuardOptions options{.health = [&] { return health.load(); }, .interval = 20ms};
  auto guard = std::make_unique<HealthGuard>(store_, "erp", options);
  ASSERT_TRUE(eventually([&] { return guard->is_closed(); }));
  EXPECT_TRUE(holds_in_child([&] {
    guard.reset();
    if (meddlings() != 0) return false;
    const HealthGuard mine(store_, "erp", options);
    return eventually([&] { return mine.is_closed(); });
  }));
  EXPECT_EQ(store_.look("erp")->pauses.size(), 1U);
  health = 1;
  EXPECT_TRUE(eventually([&] { return !guard->is_closed(); }));
}

TEST_F(AForkedChild, HandlesEventsOfItsOwn) {
  auto isolation = std::make_unique<EventIsolation>(store_);
  const Lease lease = isolation->lock({.chat = 1});
  std::optional<EventIsolation::Turn> turn = isolation->join({.chat = 1});
  EXPECT_TRUE(holds_in_child([&] {
    bool refused = false;
    try {
      (void)turn->wait();
    } catch (const EventIsolationTimeout&) {
      refused = true;
    }
    turn.reset();
    const bool untouched = meddlings() == 0;
    const bool own = isolation->lock({.chat = 1}).valid();
    isolation.reset();
    return refused && untouched && own;
  }));
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(store_.look(gate_name("events", "fsm:1:0"))->counts.waiting, 1U);
}

TEST_F(AForkedChild, DoesNotServeThoseWhoWaitAsync) {
  auto erp = std::make_unique<Airlock>(store_, "erp", AirlockOptions{.limit = 1, .max_wait = 1h});
  Outcome<Lease> lease = erp->try_enter();
  std::atomic<int> in = 0;
  for (int i = 0; i < 3; ++i) {
    erp->enter_async({}, [&](Arrival& arrival) { in += arrival.take().has_value() ? 1 : 0; });
  }
  EXPECT_TRUE(holds_in_child([&] {
    std::atomic<int> mine = 0;
    erp->enter_async({}, [&](Arrival& arrival) { mine += arrival.take().has_value() ? 1 : 0; });
    const bool called = eventually([&] { return mine == 1; });
    store_.close();
    lease->release();
    erp.reset();
    return called && in == 0;
  }));
  EXPECT_EQ(waiting("erp"), 3U);
  lease->release();
  EXPECT_TRUE(eventually([&] { return in == 3; }));
}

TEST_F(AForkedChild, LeavesAPendingEntryOfItsParentInItsPlace) {
  const Airlock erp(store_, "erp", {.limit = 1, .max_wait = 1h});
  Outcome<Lease> lease = erp.try_enter();
  std::atomic<int> in = 0;
  const auto count = [&](Arrival& arrival) { in += arrival.take().has_value() ? 1 : 0; };
  auto begun = erp.begin_enter({}, {}, [&] { return count; });
  EXPECT_TRUE(holds_in_child([&] {
    begun = PendingEntry();
    return in == 0;
  }));
  EXPECT_EQ(waiting("erp"), 1U);
  lease->release();
  EXPECT_TRUE(eventually([&] { return in == 1; }));
}

TEST_F(AForkedChild, TakesNothingFromAMailboxOfItsParent) {
  const Airlock erp(store_, "erp", {.limit = 1});
  auto mailbox = std::make_unique<Mailbox>();
  bool in = false;
  erp.enter_async(
      {}, [&](Arrival& arrival) { in = arrival.take().has_value(); }, *mailbox);
  pollfd event{.fd = mailbox->fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&event, 1, 10'000), 1);
  EXPECT_TRUE(holds_in_child([&] {
    const bool nothing = mailbox->run() == 0 && !in;
    mailbox.reset();
    return nothing && meddlings() == 0;
  }));
  EXPECT_EQ(poll(&event, 1, 0), 1) << "it is still readable";
  EXPECT_EQ(mailbox->run(), 1U);
  EXPECT_TRUE(in);
}

TEST_F(AForkedChild, IsNotClosedWhenItsParentIs) {
  const Airlock erp(store_, "erp", {.limit = 1});
  store_.close();
  EXPECT_TRUE(holds_in_child([&] { return erp.try_enter().has_value(); }));
}

TEST_F(AForkedChild, HasALocalPolicyOfItsOwn) {
  const Airlock erp(testing::FaultyStore(store_), "erp", {.limit = 1, .outage = Outage::local});
  EXPECT_TRUE(holds_in_child([&] { return erp.try_enter().has_value(); }));
}

// Whatever the threads of the parent were in the middle of.
TEST_F(AForkedChild, IsAliveInAStorm) {
  std::optional<Airlock> erp;
  erp.emplace(store_, "erp", AirlockOptions{.limit = 2, .max_wait = 1h});
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, airlock = *erp] {
      while (!stop) {
        Place place = airlock.join();
        Outcome<Lease> lease = place.wait();
        (void)lease->lost();
        airlock.enter_async({}, [](Arrival& arrival) { (void)arrival.take(); });
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    std::optional<Place> place = erp->join();
    ASSERT_TRUE(holds_in_child([&] {
      place.reset();
      Airlock mine = *erp;
      erp.reset();
      std::atomic<bool> called = false;
      mine.enter_async({}, [&](Arrival& arrival) { called = arrival.take().has_value(); });
      return mine.enter().has_value() && mine.join().wait().has_value() &&
             eventually([&] { return called.load(); });
    })) << i;
  }
  stop = true;
}

}  // namespace
}  // namespace airlock
