#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "contract/support/store_contract.hpp"
#include "store/backend.hpp"

// Being called: once, under no lock, when the state of a visitor may have changed.

namespace airlock::contract {
namespace {

using ::testing::ElementsAre;

class Watch : public StoreContract {
 protected:
  // Counts the calls to `name`.
  [[nodiscard]] bool watches(const std::string& name) {
    return store().watch(gate(), VisitorId::named(name), [heard = heard_, name] {
      const std::lock_guard lock(heard->mutex);
      ++heard->calls[name];
    });
  }

  int calls(const std::string& name) {
    deliver_calls();
    const std::lock_guard lock(heard_->mutex);
    return heard_->calls[name];
  }

 private:
  // The store, which ends after this, calls those who still watch.
  struct Heard {
    std::mutex mutex;
    std::map<std::string, int> calls;
  };
  std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
};

TEST_P(Watch, AWaiterIsCalledWhenItIsHandedASlot) {
  const Token ann = enters("ann").token;
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  EXPECT_EQ(calls("bob"), 0);
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(calls("bob"), 1);
  enters("bob");
}

TEST_P(Watch, ADetachedWaiterIsCalledToo) {
  const Token ann = enters("ann").token;
  waits(visitor("bob").detached());
  ASSERT_TRUE(watches("bob"));
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, OnlyTheOneWhoIsHandedASlotIsCalled) {
  const Token ann = enters("ann").token;
  for (const char* name : {"bob", "cid", "dan"}) {
    waits(name);
    ASSERT_TRUE(watches(name));
  }
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(calls("bob"), 1);
  EXPECT_EQ(calls("cid"), 0);
  EXPECT_EQ(calls("dan"), 0);
}

TEST_P(Watch, TheFollowerOfOneThatIsMarkedAbsentIsCalledAtOnce) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  ASSERT_TRUE(watches("cid"));
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(calls("cid"), 0);
  EXPECT_TRUE(is_marked_absent("bob"));
  EXPECT_EQ(calls("cid"), 1);
}

TEST_P(Watch, AllWhoAreHandedASlotInOneStepAreCalled) {
  every_visitor.limit(2);
  const Token ann = enters(visitor("ann").weight(2)).token;
  for (const char* name : {"bob", "cid", "dan"}) {
    waits(name);
    ASSERT_TRUE(watches(name));
  }
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(calls("bob"), 1);
  EXPECT_EQ(calls("cid"), 1);
  EXPECT_EQ(calls("dan"), 0);
}

TEST_P(Watch, OneWhoWasAlreadyHandedASlotIsToldToAsk) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  EXPECT_FALSE(watches("bob"));
  EXPECT_EQ(calls("bob"), 0);
}

TEST_P(Watch, OneWhoIsUnknownIsToldToAsk) {
  EXPECT_FALSE(watches("ann"));
  EXPECT_FALSE(knows(gate()));
  enters("ann");
  EXPECT_FALSE(watches("bob"));
}

TEST_P(Watch, ACallComesOnce) {
  const Token ann = enters("ann").token;
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  EXPECT_TRUE(releases(ann));
  EXPECT_TRUE(releases(enters("bob").token));
  const Token cid = enters("cid").token;
  waits("bob");
  EXPECT_TRUE(releases(cid));
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, OneWhoNoLongerWatchesIsNotCalled) {
  const Token ann = enters("ann").token;
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  store().unwatch(gate(), VisitorId::named("bob"));
  store().unwatch(gate(), VisitorId::named("bob"));
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(calls("bob"), 0);
  EXPECT_THAT(handed(), ElementsAre("bob"));
}

TEST_P(Watch, OneWhoIsCalledMayAskAtOnce) {
  const Token ann = enters("ann").token;
  waits("bob");
  bool entered = false;
  ASSERT_TRUE(store().watch(gate(), VisitorId::named("bob"), [&] {
    store().unwatch(gate(), VisitorId::named("bob"));
    enters("bob");
    entered = true;
  }));
  EXPECT_TRUE(releases(ann));
  deliver_calls();
  EXPECT_TRUE(entered);
}

TEST_P(Watch, AHolderIsCalledWhenItIsRevoked) {
  enters("ann");
  ASSERT_TRUE(watches("ann"));
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  EXPECT_EQ(calls("ann"), 1);
}

TEST_P(Watch, AHolderIsCalledWhenItIsRevokedAtOnce) {
  enters("ann");
  ASSERT_TRUE(watches("ann"));
  store().revoke(gate(), std::nullopt, Revoke::now);
  EXPECT_EQ(calls("ann"), 1);
}

TEST_P(Watch, ARevokedHolderIsToldToAsk) {
  enters("ann");
  store().revoke(gate(), std::nullopt, Revoke::graceful);
  EXPECT_FALSE(watches("ann"));
}

TEST_P(Watch, HoldersAndWaitersAreCalledWhenTheGateIsPurged) {
  enters("ann");
  waits("bob");
  ASSERT_TRUE(watches("ann"));
  ASSERT_TRUE(watches("bob"));
  EXPECT_TRUE(store().purge(gate()));
  EXPECT_EQ(calls("ann"), 1);
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenTheLimitIsRaised) {
  enters("ann");
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  store().set_limit(gate(), 2);
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenAPauseIsLifted) {
  store().pause(gate(), 1h);
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  EXPECT_TRUE(store().resume(gate()));
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenTheHeadLeaves) {
  every_visitor.limit(2);
  enters("ann");
  waits(visitor("heavy").weight(2));
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  EXPECT_TRUE(leaves("heavy"));
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenAHolderBecomesLighter) {
  every_visitor.limit(2);
  RenewItem ann{.token = enters(visitor("ann").weight(2)).token, .ttl = 30s, .weight = 1};
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  store().renew({&ann, 1});
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenTheHolderIsRevokedAtOnce) {
  enters("ann");
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  store().revoke(gate(), std::nullopt, Revoke::now);
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenAHandOverIsLeft) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  ASSERT_TRUE(watches("cid"));
  EXPECT_TRUE(releases(ann));
  EXPECT_EQ(calls("cid"), 0);
  EXPECT_TRUE(leaves("bob"));
  EXPECT_EQ(calls("cid"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenAHandOverLapses) {
  const Token ann = enters("ann").token;
  waits("bob");
  waits("cid");
  ASSERT_TRUE(watches("cid"));
  EXPECT_TRUE(releases(ann));
  after(1s);
  is_refused("dan", Reason::full);
  EXPECT_EQ(calls("cid"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenSomebodyElsesStepFindsAnExpiredHolder) {
  enters(visitor("ann").ttl(1s));
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  after(1s);
  is_refused("cid", Reason::full);
  EXPECT_EQ(calls("bob"), 1);
}

TEST_P(Watch, AWaiterIsCalledWhenAQuietStoreIsToldToCollect) {
  enters(visitor("ann").ttl(1s));
  waits("bob");
  ASSERT_TRUE(watches("bob"));
  after(1s);
  store().collect();
  EXPECT_EQ(calls("bob"), 1);
}

// Scenario 20.
TEST_P(Watch, ABlockedVisitorGoesOnWhenAnotherThreadReleases) {
  const Token ann = enters("ann").token;
  waits("bob");
  std::mutex mutex;
  std::condition_variable changed;
  bool called = false;
  ASSERT_TRUE(store().watch(gate(), VisitorId::named("bob"), [&] {
    const std::lock_guard lock(mutex);
    called = true;
    changed.notify_one();
  }));
  std::thread releaser([&] { EXPECT_TRUE(releases(ann)); });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, 10s, [&] { return called; }));
  lock.unlock();
  releaser.join();
  enters("bob");
}

TEST_P(Watch, WhoAwaitsWhatHasComeDoesNotSleep) {
  const Token ann = enters("ann").token;
  waits("bob");
  EXPECT_TRUE(releases(ann));
  const auto sleeper = std::make_shared<Sleeper>();
  EXPECT_TRUE(
      internal::backend_of(store())->await(gate(), VisitorId::named("bob"), sleeper, kForever));
  EXPECT_TRUE(
      internal::backend_of(store())->await(gate(), VisitorId::named("nobody"), sleeper, kForever));
}

TEST_P(Watch, ASleeperIsWokenAlsoBeforeItSleeps) {
  enters("ann");
  waits("bob");
  const auto sleeper = std::make_shared<Sleeper>();
  sleeper->wake(false);
  EXPECT_FALSE(
      internal::backend_of(store())->await(gate(), VisitorId::named("bob"), sleeper, kForever))
      << "no news";
  sleeper->wake(true);
  sleeper->wake(false);
  EXPECT_TRUE(
      internal::backend_of(store())->await(gate(), VisitorId::named("bob"), sleeper, kForever))
      << "news stays";
  EXPECT_FALSE(internal::backend_of(store())->await(gate(), VisitorId::named("bob"), sleeper,
                                                    internal::backend_of(store())->clock().now()))
      << "news is told once, and the time is up";
  store().unwatch(gate(), VisitorId::named("bob"));
}

INSTANTIATE_TEST_SUITE_P(Stores, Watch, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
