#include "airlock/mutex.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <thread>

#include "admission/support/waiting_test.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/error.hpp"
#include "support/hooked_store.hpp"

namespace airlock {
namespace {

class MutexTest : public WaitingTest {
 protected:
  Mutex ledger_{store_, "ledger"};
};

TEST_P(MutexTest, WorksWithTheLocksOfTheStandard) {
  Mutex other(store_, "other");
  {
    const std::scoped_lock both(ledger_, other);
    EXPECT_EQ(holders("ledger"), 1U);
    EXPECT_GT(ledger_.fence(), 0U);
    EXPECT_TRUE(ledger_.valid());
  }
  EXPECT_TRUE(is_left_with(0, "ledger"));
  EXPECT_EQ(ledger_.fence(), 0U);
  std::unique_lock lock(ledger_, std::defer_lock);
  EXPECT_TRUE(lock.try_lock_for(1ms));
}

TEST_P(MutexTest, ReadersShareAndAWriterDoesNot) {
  Mutex same(store_, "ledger");
  Mutex writer(store_, "ledger");
  const std::shared_lock first(ledger_);
  {
    const std::shared_lock second(same, std::try_to_lock);
    EXPECT_TRUE(second.owns_lock());
    EXPECT_FALSE(writer.try_lock());
  }
  EXPECT_FALSE(writer.try_lock());
}

TEST_P(MutexTest, AWriterIsNotStarvedByReaders) {
  std::shared_lock reader(ledger_);
  std::jthread writer([&] {
    Mutex same(store_, "ledger");
    const std::scoped_lock lock(same);
  });
  ASSERT_TRUE(eventually([&] { return waiting("ledger") == 1; }));
  Mutex same(store_, "ledger");
  EXPECT_FALSE(same.try_lock_shared()) << "the writer came first";
  reader.unlock();
}

TEST_P(MutexTest, GivesUpInTime) {
  const std::scoped_lock lock(ledger_);
  Mutex same(store_, "ledger");
  std::atomic<bool> gave_up = false;
  std::jthread waiter([&] { gave_up = !same.try_lock_for(2s); });
  ASSERT_TRUE(eventually([&] { return waiting("ledger") == 1; }));
  pass(2s - 200ms, 2);  // airlock-keep and the waiter
  EXPECT_EQ(waiting("ledger"), 1U);
  clock_.advance(200ms);
  EXPECT_TRUE(eventually([&] { return gave_up.load(); }));
  EXPECT_EQ(waiting("ledger"), 0U);
}

TEST_P(MutexTest, TellsWhenItIsLost) {
  ledger_.lock();
  const std::stop_token lost = ledger_.lost();
  store_.revoke("ledger", {}, Revoke::graceful);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_FALSE(ledger_.valid());
  ledger_.unlock();
}

TEST_P(MutexTest, LockThrowsWhatTheStoreThrows) {
  store_.down(true);
  EXPECT_THROW(ledger_.lock(), SealAcquiringError);
}

TEST_P(MutexTest, KeysAreLockedApart) {
  const KeyedLock orders(store_, "orders");
  const Lease first = orders.lock("1");
  const Lease second = orders.lock(std::string_view("\0 {}", 4));
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(orders.try_lock("1"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(orders.try_lock_for("1", kForever, {.stop = stop.get_token()}));
}

// --- whose it is ---

// Runs on a thread that is gone afterwards.
template <typename Work>
auto elsewhere(Work work) {
  return std::async(std::launch::async, work).get();
}

std::errc relocking(Mutex& mutex, void (*lock)(Mutex&)) {
  try {
    lock(mutex);
  } catch (const std::system_error& error) {
    return static_cast<std::errc>(error.code().value());
  }
  return std::errc{};
}

TEST_P(MutexTest, AThreadThatLostItsLockDoesNotUnlockItsSuccessors) {
  Mutex short_lived(store_, "ledger", {.max_hold = 300ms});
  short_lived.lock();
  const Fence mine = short_lived.fence();
  clock_.advance(300ms);
  ASSERT_TRUE(eventually([&] { return holders("ledger") == 0; }));
  std::promise<void> unlocked;
  std::promise<Fence> locked;
  std::jthread successor([&] {
    short_lived.lock();
    locked.set_value(short_lived.fence());
    unlocked.get_future().wait();
    short_lived.unlock();
  });
  EXPECT_GT(locked.get_future().get(), mine);
  EXPECT_EQ(short_lived.fence(), mine) << "of the lock that this thread had";
  EXPECT_FALSE(short_lived.valid());
  EXPECT_TRUE(short_lived.lost().stop_requested());
  short_lived.unlock();
  EXPECT_EQ(holders("ledger"), 1U) << "the other thread has it";
  EXPECT_EQ(short_lived.fence(), 0U);
  unlocked.set_value();
}

TEST_P(MutexTest, OnlyTheThreadThatLockedUnlocks) {
  const std::uint64_t before = foreign_unlocks();
  ledger_.lock();
  elsewhere([&] {
    ledger_.unlock();
    ledger_.unlock_shared();
  });
  EXPECT_EQ(foreign_unlocks(), before + 2);
  EXPECT_EQ(holders("ledger"), 1U);
  EXPECT_TRUE(ledger_.valid());
  ledger_.unlock_shared();
  EXPECT_EQ(foreign_unlocks(), before + 3) << "it is locked alone";
  EXPECT_TRUE(ledger_.valid());
  ledger_.unlock();
  EXPECT_TRUE(is_left_with(0, "ledger"));
  ledger_.unlock();
  EXPECT_EQ(foreign_unlocks(), before + 4);
}

TEST_P(MutexTest, AReaderGivesItsOwnLeaseBack) {
  ledger_.lock_shared();
  const Fence mine = ledger_.fence();
  std::promise<void> done;
  std::promise<Fence> locked;
  std::jthread other([&] {
    ledger_.lock_shared();
    locked.set_value(ledger_.fence());
    done.get_future().wait();
    ledger_.unlock_shared();
  });
  const Fence theirs = locked.get_future().get();
  EXPECT_NE(mine, theirs);
  ledger_.unlock_shared();
  ASSERT_TRUE(is_left_with(1, "ledger"));
  EXPECT_EQ(store_.look("ledger")->holders.front().fence, theirs);
  done.set_value();
}

TEST_P(MutexTest, AnswersForTheCallingThread) {
  ledger_.lock();
  EXPECT_TRUE(ledger_.valid());
  EXPECT_TRUE(ledger_.lost().stop_possible());
  elsewhere([&] {
    EXPECT_EQ(ledger_.fence(), 0U);
    EXPECT_FALSE(ledger_.valid());
    EXPECT_FALSE(ledger_.lost().stop_possible());
  });
  ledger_.unlock();
}

TEST_P(MutexTest, LockingTwiceIsADeadlockThatIsReported) {
  constexpr auto kDeadlock = std::errc::resource_deadlock_would_occur;
  constexpr void (*kWays[])(Mutex&) = {
      [](Mutex& mutex) { mutex.lock(); },
      [](Mutex& mutex) { (void)mutex.try_lock(); },
      [](Mutex& mutex) { (void)mutex.try_lock_for(1h); },
      [](Mutex& mutex) { mutex.lock_shared(); },
      [](Mutex& mutex) { (void)mutex.try_lock_shared(); },
      [](Mutex& mutex) { (void)mutex.try_lock_shared_for(1h); },
  };
  ledger_.lock();
  for (const auto way : kWays) EXPECT_EQ(relocking(ledger_, way), kDeadlock);
  ledger_.unlock();
  ledger_.lock_shared();
  for (const auto way : kWays) EXPECT_EQ(relocking(ledger_, way), kDeadlock);
  ledger_.unlock_shared();
  EXPECT_EQ(waiting("ledger"), 0U);
  EXPECT_TRUE(ledger_.try_lock());
  ledger_.unlock();
}

TEST_P(MutexTest, StaysLockedWhenItsThreadEnds) {
  elsewhere([&] { ledger_.lock(); });
  EXPECT_EQ(holders("ledger"), 1U);
  EXPECT_FALSE(elsewhere([&] { return ledger_.try_lock(); })) << "not even a thread with its id";
  EXPECT_EQ(ledger_.fence(), 0U);
}

TEST_P(MutexTest, ItsEndUnlocksWhateverIsLocked) {
  {
    Mutex catalog(store_, "catalog");
    catalog.lock_shared();
    elsewhere([&] { catalog.lock_shared(); });
    EXPECT_EQ(holders("catalog"), 2U);
  }
  EXPECT_TRUE(is_left_with(0, "catalog"));
}

// The store never refuses one who waits for ever; should it do so all the same, that is no lock.
TEST_P(MutexTest, ARefusalIsNoLock) {
  const HookedStore refusing(store_);
  refusing.refuse_with({.reason = Reason::line_full});
  Mutex mutex(refusing, "ledger");
  EXPECT_THROW(mutex.lock(), BulkheadFullError);
  EXPECT_THROW(mutex.lock_shared(), BulkheadFullError);
  EXPECT_FALSE(mutex.valid());
  EXPECT_THROW((void)KeyedLock(refusing, "orders").lock("1"), BulkheadFullError);
}

AIRLOCK_WAITING_SUITE(MutexTest);

}  // namespace
}  // namespace airlock
