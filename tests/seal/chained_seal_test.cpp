#include <concepts>
#include <functional>
#include <utility>

#include "airlock/composite_seal.hpp"
#include "airlock/cooldown_seal.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/multi_seal.hpp"
#include "airlock/rate_limiter_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "seal/support/seal_test.hpp"
#include "store/memory/memory_store.hpp"
#include "testing/stepped_clock.hpp"

// Several gates and stores, one after another.

namespace airlock::seals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The lock comes first, by type.
static_assert(std::constructible_from<ChainedSeal, LockSeal, std::vector<GateSeal>>);
static_assert(!std::constructible_from<ChainedSeal, RateLimiterSeal, std::vector<GateSeal>>);
static_assert(!std::constructible_from<ChainedSeal, CooldownSeal, std::vector<GateSeal>>);

const Rate kHourly{.count = 10, .period = 1h};

class ChainedSealTest : public SealTest {
 protected:
  [[nodiscard]] const airlock::testing::FaultyStore& fleet() { return fleet_.store(); }

  Bench fleet_{GetParam()};
  LockSeal lock_{store(), "lock", {.ttl = 10s}};
  RateLimiterSeal limiter_{fleet(), "api", {kHourly}};
  ChainedSeal chain_{lock_, {limiter_}};
};

TEST_P(ChainedSealTest, TakesThePartsInTheirOrder) {  // 15
  const Admissions held = granted(chain_.try_acquire());
  ASSERT_EQ(held.size(), 2U);
  EXPECT_EQ(held[0].token.gate, GateName("lock"));
  EXPECT_EQ(held[1].token.gate, GateName("api"));
  EXPECT_EQ(held[1].rate.remaining, 9U);
  EXPECT_TRUE(chain_.is_acquired(held));
  EXPECT_EQ(store().calls("release"), 0U);
}

TEST_P(ChainedSealTest, DoesNotAskTheLimiterWhenTheLockIsTaken) {  // 15
  granted(lock_.try_acquire());
  refused(chain_.try_acquire(), Reason::full);
  EXPECT_EQ(fleet().calls(), 0U);
}

TEST_P(ChainedSealTest, GivesTheLockBackWhenTheLimiterRefuses) {  // 15
  granted(limiter_.try_acquire(10));
  const Refused refusal = refused(chain_.try_acquire(), Reason::rate);
  EXPECT_LASTS(refusal.retry_after, 6min);
  EXPECT_EQ(chain_.parts().at(refusal.at).gate(), limiter_.gate());
  EXPECT_THAT(holders("lock"), IsEmpty());
  granted(lock_.try_acquire());
}

TEST_P(ChainedSealTest, GivesTheLockBackWhenTheLimiterFails) {  // 97
  fleet().fail_next(1, StoreError::Kind::unavailable);
  const auto cause = cause_of<SealAcquiringError>([&] { (void)chain_.try_acquire(); });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->kind(), StoreError::Kind::unavailable);
  EXPECT_THAT(holders("lock"), IsEmpty());
  granted(chain_.try_acquire());
}

TEST_P(ChainedSealTest, GivesTheLockBackWhenTheAnswerOfTheLimiterIsLost) {
  fleet().drop_reply_next(1);
  EXPECT_THROW((void)chain_.try_acquire(), SealAcquiringError);
  EXPECT_THAT(holders("lock"), IsEmpty());
}

TEST_P(ChainedSealTest, GivesTheLockBackWhenTheCallIsWrong) {
  EXPECT_THROW((void)ChainedSeal(SemaphoreSeal(store(), "slots", {.limit = 1}),
                                 {RateLimiterSeal(fleet(), "slow", {{.count = 1, .period = 24h}})})
                   .try_acquire(100'000),
               InvalidArgument);
  EXPECT_THAT(holders("slots"), IsEmpty());
}

TEST_P(ChainedSealTest, TellsTheFirstFailureAlsoWhenTheLockCannotBeGivenBack) {
  const ChainedSeal both_down(SemaphoreSeal(store(), "slots", {.limit = 1}),
                              {RateLimiterSeal(store(), "api", {kHourly})});
  store().down(true);
  EXPECT_THROW((void)both_down.try_acquire(), SealAcquiringError);
}

TEST_P(ChainedSealTest, UndoesEverythingBeforeThePartThatRefused) {
  const Rate daily{.count = 5, .period = 24h};
  const SemaphoreSeal slots(fleet(), "slots", {.limit = 3});
  const CooldownSeal cooldown(store(), "cooldown", 30s);
  const CompositeSeal composite(SemaphoreSeal(store(), "composite", {.limit = 3}), {daily});
  const LockSeal last(fleet(), "last");
  const ChainedSeal chain(lock_, {slots, limiter_, cooldown, composite, last});
  const Token obstacle = granted(last.try_acquire()).token;

  for (int i = 0; i < 3; ++i) refused(chain.try_acquire(2), Reason::full);
  EXPECT_THAT(holders("lock"), IsEmpty());
  EXPECT_THAT(seals::holders(fleet(), "slots"), IsEmpty());
  EXPECT_EQ(seals::remaining(fleet(), "api", kHourly), 10U);
  EXPECT_THAT(holders("cooldown"), IsEmpty());
  EXPECT_THAT(holders("composite"), IsEmpty());
  EXPECT_EQ(remaining("composite", daily), 5U);

  last.release(obstacle);
  EXPECT_EQ(granted(chain.try_acquire(2)).size(), 6U);
  EXPECT_EQ(seals::remaining(fleet(), "api", kHourly), 8U);
  EXPECT_EQ(remaining("composite", daily), 3U);
}

TEST_P(ChainedSealTest, DoesNotUndoWhatAnEarlierCallTook) {
  granted(chain_.try_acquire(10, named("ann")));
  refused(chain_.try_acquire(1, named("ann")), Reason::rate);
  EXPECT_THAT(holders("lock"), ElementsAre("ann"));
  fleet().down(true);
  EXPECT_THROW((void)chain_.try_acquire(1, named("ann")), SealAcquiringError);
  EXPECT_THAT(holders("lock"), ElementsAre("ann"));
}

TEST_P(ChainedSealTest, TakesNoSecondSlotWhenAskedAgain) {
  granted(chain_.try_acquire(1, named("ann")));
  EXPECT_TRUE(granted(chain_.try_acquire(1, named("ann")))[0].repeated);
  EXPECT_THAT(holders("lock"), ElementsAre("ann"));
}

TEST_P(ChainedSealTest, PaysOnceForManyAttemptsWithDedupe) {
  const LockSeal last(store(), "last");
  const ChainedSeal chain(lock_, {RateLimiterSeal(fleet(), "api", {kHourly}, 1min), last});
  const Token obstacle = granted(last.try_acquire()).token;
  for (int i = 0; i < 3; ++i) refused(chain.try_acquire(1, named("ann")), Reason::full);
  EXPECT_EQ(seals::remaining(fleet(), "api", kHourly), 9U);
  last.release(obstacle);
  granted(chain.try_acquire(1, named("ann")));
  EXPECT_EQ(seals::remaining(fleet(), "api", kHourly), 9U);
}

TEST_P(ChainedSealTest, ReleasesOnlyWhatCanBeReleased) {  // 15
  const CooldownSeal cooldown(fleet(), "cooldown", 30s);
  const ChainedSeal chain(lock_, {limiter_, cooldown});
  chain.release(granted(chain.try_acquire()));
  EXPECT_EQ(fleet().calls("release"), 0U);
  EXPECT_EQ(fleet().calls("refund"), 0U);
  granted(lock_.try_acquire());
  refused(cooldown.try_acquire(), Reason::full);
  EXPECT_EQ(seals::remaining(fleet(), "api", kHourly), 9U);
}

TEST_P(ChainedSealTest, ReleasesTheRestWhenOneIsGone) {
  const ChainedSeal chain(
      SemaphoreSeal(store(), "a", {.limit = 1}),
      {SemaphoreSeal(fleet(), "b", {.limit = 1}), SemaphoreSeal(store(), "c", {.limit = 1})});
  const Admissions held = granted(chain.try_acquire());
  ASSERT_TRUE(fleet().lose(held[1].token));
  EXPECT_FALSE(chain.is_acquired(held));
  EXPECT_THROW(chain.release(held), SealReleasingError);
  EXPECT_THAT(holders("a"), IsEmpty());
  EXPECT_THAT(holders("c"), IsEmpty());
}

TEST_P(ChainedSealTest, ReleasesTheRestWhenAStoreFails) {
  const ChainedSeal chain(lock_, {SemaphoreSeal(fleet(), "slots", {.limit = 1})});
  const Admissions held = granted(chain.try_acquire());
  fleet().down(true);
  EXPECT_TRUE(cause_of<SealReleasingError>([&] { chain.release(held); }));
  EXPECT_THAT(holders("lock"), IsEmpty());
}

TEST_P(ChainedSealTest, RenewsEveryLockInItsStore) {
  const ChainedSeal chain(lock_, {SemaphoreSeal(fleet(), "slots", {.limit = 1, .ttl = 60s}),
                                  limiter_, CooldownSeal(store(), "cooldown", 30s)});
  Admissions held = granted(chain.try_acquire());
  EXPECT_LASTS(chain.remaining_lifetime(held), 9'900ms);
  bench().after(5s);
  fleet_.after(5s);
  chain.renew(held);
  EXPECT_LASTS(held[0].expires_in, 10s);
  EXPECT_LASTS(held[1].expires_in, 60s);
  EXPECT_LASTS(chain.remaining_lifetime(held), 9'900ms);
  EXPECT_EQ(store().calls("renew"), 1U);
  EXPECT_EQ(fleet().calls("renew"), 1U);
  chain.renew(held, 20s);
  EXPECT_LASTS(held[1].expires_in, 20s);
  EXPECT_LASTS(store().look("cooldown")->holders.at(0).remaining, 25s);
}

TEST_P(ChainedSealTest, IsExpiredWhenOnePartIs) {
  const ChainedSeal chain(lock_, {SemaphoreSeal(fleet(), "slots", {.limit = 1, .ttl = 60s})});
  Admissions held = granted(chain.try_acquire());
  EXPECT_FALSE(chain.is_expired(held));
  bench().after(10s);
  fleet_.after(10s);
  EXPECT_TRUE(chain.is_expired(held));
  EXPECT_FALSE(chain.is_acquired(held));
  EXPECT_THROW(chain.renew(held), LeaseExpiredError);
}

TEST_P(ChainedSealTest, AsksNoStoreAboutAdmissionsOfAnotherSeal) {
  Admissions held = granted(ChainedSeal(lock_, {}).try_acquire());
  const std::size_t before = store().calls();
  EXPECT_THROW(chain_.release(held), SealReleasingError);
  EXPECT_THROW(chain_.renew(held), LeaseExpiredError);
  EXPECT_FALSE(chain_.is_acquired(held));
  EXPECT_TRUE(chain_.is_expired(held));
  EXPECT_EQ(store().calls(), before);

  Admissions swapped = granted(ChainedSeal(SemaphoreSeal(store(), "b", {.limit = 1}),
                                           {SemaphoreSeal(store(), "a", {.limit = 1})})
                                   .try_acquire());
  const ChainedSeal other(SemaphoreSeal(store(), "a", {.limit = 1}),
                          {SemaphoreSeal(store(), "b", {.limit = 1})});
  const std::size_t later = store().calls();
  EXPECT_THROW(other.release(swapped), SealReleasingError);
  EXPECT_THROW(other.renew(swapped), LeaseExpiredError);
  EXPECT_FALSE(other.is_acquired(swapped));
  EXPECT_EQ(store().calls(), later);
}

TEST_P(ChainedSealTest, CannotHaveAGateTwice) {
  // The second question would find the visitor inside and charge nothing.
  EXPECT_THROW(ChainedSeal(lock_, {RateLimiterSeal(store(), "lock", {kHourly})}), InvalidArgument);
  EXPECT_THROW(ChainedSeal(lock_, {limiter_, limiter_}), InvalidArgument);
  EXPECT_NO_THROW(ChainedSeal(lock_, {RateLimiterSeal(fleet(), "lock", {kHourly})}));
}

INSTANTIATE_TEST_SUITE_P(Stores, ChainedSealTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

// --- a store that fails between two questions ---

// Stands still, and does something whenever it is read.
class HookedClock final : public Clock {
 public:
  std::function<void()> on_read = [] {};

  Instant now() noexcept override {
    on_read();
    return 1'000s;
  }
  Instant wall() noexcept override { return 1'000s; }
  void wait_until(std::unique_lock<std::mutex>&, std::condition_variable&, Instant) override {}
};

TEST(ChainedSealFailure, IsReportedWhenAfterARefusalTheLockCannotBeGivenBack) {
  airlock::internal::SteppedClock clock;
  const auto store = airlock::testing::FaultyStore(airlock::testing::memory_store(clock));
  HookedClock hooked;
  const RateLimiterSeal limiter(memory::make_store({}, hooked), "api", {kHourly});
  granted(limiter.try_acquire(10));
  hooked.on_read = [&] { store.down(true); };
  const auto error = thrown_by<SealAcquiringError>(
      [&] { (void)ChainedSeal(LockSeal(store, "lock"), {limiter}).try_acquire(); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("\"api\""));
  store.down(false);
  EXPECT_EQ(holders(store, "lock").size(), 1U);  // Until its ttl ends.
  clock.advance(300s);
  EXPECT_THAT(holders(store, "lock"), IsEmpty());
}

TEST(ChainedSealFailure, OfOneGivingBackDoesNotKeepTheOthersFromIt) {
  airlock::internal::SteppedClock clock;
  const auto store = airlock::testing::memory_store(clock);
  const auto broken = airlock::testing::FaultyStore(airlock::testing::memory_store(clock));
  HookedClock hooked;
  const RateLimiterSeal limiter(memory::make_store({}, hooked), "api", {kHourly});
  granted(limiter.try_acquire(10));
  hooked.on_read = [&] { broken.down(true); };
  const ChainedSeal chain(LockSeal(store, "lock"), {LockSeal(broken, "other"), limiter});
  EXPECT_THROW((void)chain.try_acquire(), SealAcquiringError);
  EXPECT_THAT(holders(store, "lock"), IsEmpty());
}

}  // namespace
}  // namespace airlock::seals
