#include "airlock/mutex.hpp"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "airlock/error.hpp"
#include "airlock/support/waiting_test.hpp"

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
  const std::shared_lock first(ledger_);
  {
    const std::shared_lock second(same, std::try_to_lock);
    EXPECT_TRUE(second.owns_lock());
    EXPECT_FALSE(same.try_lock());
  }
  EXPECT_FALSE(same.try_lock());
}

TEST_P(MutexTest, AWriterIsNotStarvedByReaders) {
  std::shared_lock reader(ledger_);
  std::jthread writer([&] {
    Mutex same(store_, "ledger");
    const std::scoped_lock lock(same);
  });
  ASSERT_TRUE(eventually([&] { return waiting("ledger") == 1; }));
  EXPECT_FALSE(ledger_.try_lock_shared()) << "the writer came first";
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
  store_->revoke("ledger", {}, Store::Revoke::graceful);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_FALSE(ledger_.valid());
  ledger_.unlock();
}

TEST_P(MutexTest, LockThrowsWhatTheStoreThrows) {
  store_->down(true);
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
  EXPECT_FALSE(orders.try_lock("1", {.max_wait = kForever, .stop = stop.get_token()}));
}

AIRLOCK_WAITING_SUITE(MutexTest);

}  // namespace
}  // namespace airlock
