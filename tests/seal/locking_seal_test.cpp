#include <functional>
#include <tuple>

#include "airlock/composite_seal.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "seal/support/seal_test.hpp"
#include "testing/stepped_clock.hpp"

// What all seals have that can be released and renewed, over every store. The numbers are those of
// the scenarios in reference/seed-systems.md (c).

namespace airlock::seals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using TryAcquire = std::function<Outcome<Admission>(const Visitor&)>;

// One kind of seal, one at a time.
struct Kind {
  std::string name;
  std::function<std::shared_ptr<const LockingSeal>(Store, GateName, Duration, TryAcquire*)> make;

  friend std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }
};

template <typename T>
std::shared_ptr<const LockingSeal> tell(T seal, TryAcquire* try_acquire) {
  auto shared = std::make_shared<const T>(std::move(seal));
  *try_acquire = [shared](const Visitor& who) {
    if constexpr (std::is_same_v<T, CompositeSeal>)
      return shared->try_acquire(1, who);
    else
      return shared->try_acquire(who);
  };
  return shared;
}

const Rate kPlenty{.count = 1'000, .period = 1s};

std::vector<Kind> kinds() {
  return {{"lock", [](auto store, GateName gate, Duration ttl,
                      TryAcquire* ask) { return tell(LockSeal(store, gate, {.ttl = ttl}), ask); }},
          {"sharedlock",
           [](auto store, GateName gate, Duration ttl, TryAcquire* ask) {
             return tell(LockSeal(store, gate, {.ttl = ttl, .readers = 100}), ask);
           }},
          {"semaphore",
           [](auto store, GateName gate, Duration ttl, TryAcquire* ask) {
             return tell(SemaphoreSeal(store, gate, {.limit = 1, .ttl = ttl}), ask);
           }},
          {"composite", [](auto store, GateName gate, Duration ttl, TryAcquire* ask) {
             return tell(CompositeSeal(LockSeal(store, gate, {.ttl = ttl}), {kPlenty}), ask);
           }}};
}

class LockingSeals : public ::testing::TestWithParam<std::tuple<StoreFactory, Kind>> {
 protected:
  LockingSeals() { make("gate", 10s); }

  void make(const GateName& gate, Duration ttl) {
    seal_ = std::get<1>(GetParam()).make(bench_.store(), gate, ttl, &try_acquire_);
  }

  [[nodiscard]] const LockingSeal& seal() { return *seal_; }
  [[nodiscard]] const airlock::testing::FaultyStore& store() { return bench_.store(); }
  [[nodiscard]] Outcome<Admission> try_acquire(const Visitor& who = {}) {
    return try_acquire_(who);
  }
  void after(Duration duration) { bench_.after(duration); }

  Bench bench_{std::get<0>(GetParam())};

 private:
  std::shared_ptr<const LockingSeal> seal_;
  TryAcquire try_acquire_;
};

TEST_P(LockingSeals, AreMadeWithoutAskingTheStore) { EXPECT_EQ(store().calls(), 0U); }

TEST_P(LockingSeals, AdmitOneAndRefuseTheNext) {  // 1, 9
  const Admission held = granted(try_acquire());
  EXPECT_TRUE(seal().is_acquired(held.token));
  EXPECT_GT(held.token.fence, 0U);
  EXPECT_EQ(held.token.gate, GateName("gate"));
  after(4s);
  EXPECT_LASTS(refused(try_acquire(), Reason::full).retry_after, 6s);
}

TEST_P(LockingSeals, AdmitAgainAfterARelease) {  // 2
  const Admission held = granted(try_acquire());
  seal().release(held.token);
  EXPECT_FALSE(seal().is_acquired(held.token));
  EXPECT_GT(granted(try_acquire()).token.fence, held.token.fence);
}

TEST_P(LockingSeals, EndWithTheirTtlToTheMicrosecond) {  // 3, 96
  for (const Duration ttl : {Duration(1s), Duration(2'500ms), Duration(1'500us), Duration(250ms)}) {
    make("gate" + std::to_string(ttl.count()), ttl);
    const Admission held = granted(try_acquire());
    after(ttl - 1us);
    EXPECT_TRUE(seal().is_acquired(held.token));
    refused(try_acquire(), Reason::full);
    after(1us);
    EXPECT_FALSE(seal().is_acquired(held.token));  // Before anybody else has asked, too.
    EXPECT_TRUE(seal().is_expired(held));
    granted(try_acquire());
  }
}

TEST_P(LockingSeals, AreKeptByARenewal) {  // 4, 94
  Admission held = granted(try_acquire());
  after(9s);
  seal().renew(held, 60s);
  EXPECT_TRUE(seal().is_acquired(held.token));
  EXPECT_GT(seal().remaining_lifetime(held), 10s);
  refused(try_acquire(), Reason::full);
  after(59s);
  EXPECT_TRUE(seal().is_acquired(held.token));
  EXPECT_LASTS(refused(try_acquire(), Reason::full).retry_after, 1s);
}

TEST_P(LockingSeals, KeepTheirTokenWhenRenewed) {
  Admission held = granted(try_acquire());
  const Token token = held.token;
  seal().renew(held);
  EXPECT_EQ(held.token, token);
  EXPECT_EQ(seal().renew(token).token, token);
}

TEST_P(LockingSeals, AreRenewedForTheConfiguredTtlUnlessToldOtherwise) {  // 6
  Admission held = granted(try_acquire());
  after(5s);
  seal().renew(held);
  EXPECT_LASTS(held.expires_in, 10s);
  EXPECT_LASTS(refused(try_acquire(), Reason::full).retry_after, 10s);
  seal().renew(held, 3s);
  EXPECT_LASTS(held.expires_in, 3s);
  EXPECT_LASTS(refused(try_acquire(), Reason::full).retry_after, 3s);
  EXPECT_LASTS(seal().renew(held.token, 7s).expires_in, 7s);
  EXPECT_LASTS(refused(try_acquire(), Reason::full).retry_after, 7s);
}

TEST_P(LockingSeals, CannotBeRenewedForNoTime) {
  Admission held = granted(try_acquire());
  EXPECT_THROW(seal().renew(held, 0s), InvalidArgument);
  EXPECT_THROW(seal().renew(held, -1s), InvalidArgument);
  EXPECT_TRUE(seal().is_acquired(held.token));
}

TEST_P(LockingSeals, CannotBeRenewedInAStoreThatForgotThem) {  // 5
  Admission held = granted(try_acquire());
  store().purge("gate");
  EXPECT_THROW(seal().renew(held), LeaseExpiredError);
  EXPECT_FALSE(seal().is_acquired(held.token));
}

TEST_P(LockingSeals, CannotBeRenewedAfterTheirEndEvenIfNobodyTookTheirPlace) {
  Admission held = granted(try_acquire());
  after(10s);
  EXPECT_THROW(seal().renew(held), LeaseExpiredError);
  EXPECT_THROW(seal().renew(held.token), LeaseExpiredError);
  EXPECT_TRUE(seal().is_expired(held));
}

TEST_P(LockingSeals, CannotBeRenewedOnceRevokedButCanBeReleased) {
  Admission held = granted(try_acquire());
  EXPECT_EQ(store().revoke("gate", std::nullopt, Revoke::graceful), 1U);
  EXPECT_TRUE(seal().is_acquired(held.token));
  const auto error = thrown_by<LeaseExpiredError>([&] { seal().renew(held); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("revoked"));
  seal().release(held.token);
  granted(try_acquire());
}

TEST_P(LockingSeals, SayWhenSomethingIsReleasedTwice) {  // 98
  const Admission held = granted(try_acquire());
  seal().release(held.token);
  EXPECT_THROW(seal().release(held.token), SealReleasingError);
}

TEST_P(LockingSeals, SayWhenSomethingReleasedHadEndedAndLeaveTheSuccessorAlone) {
  const Admission first = granted(try_acquire());
  after(10s);
  const Admission second = granted(try_acquire(named("second")));
  EXPECT_THROW(seal().release(first.token), SealReleasingError);
  EXPECT_THROW(seal().renew(first.token), LeaseExpiredError);
  EXPECT_TRUE(seal().is_acquired(second.token));
  EXPECT_THAT(holders(store(), "gate"), ElementsAre("second"));
}

TEST_P(LockingSeals, DoNotTakeALaterAdmissionOfTheSameVisitorForTheirOwn) {
  const Admission first = granted(try_acquire(named("ann")));
  after(10s);
  const Admission second = granted(try_acquire(named("ann")));
  EXPECT_FALSE(seal().is_acquired(first.token));
  EXPECT_THROW(seal().release(first.token), SealReleasingError);
  EXPECT_TRUE(seal().is_acquired(second.token));
}

TEST_P(LockingSeals, AskNoStoreAboutATokenOfAnotherGate) {  // 7
  Token other = granted(try_acquire()).token;
  other.gate = "other";
  const std::size_t before = store().calls();
  EXPECT_THROW(seal().release(other), SealReleasingError);
  EXPECT_THROW(seal().renew(other), LeaseExpiredError);
  EXPECT_FALSE(seal().is_acquired(other));
  EXPECT_EQ(store().calls(), before);
}

TEST_P(LockingSeals, AskNoStoreAboutATokenOfAnotherStore) {  // 7
  Token other = granted(try_acquire()).token;
  other.store ^= 1;
  const std::size_t before = store().calls();
  EXPECT_THROW(seal().release(other), SealReleasingError);
  EXPECT_THROW(seal().renew(other), LeaseExpiredError);
  EXPECT_FALSE(seal().is_acquired(other));
  EXPECT_EQ(store().calls(), before);
}

TEST_P(LockingSeals, AreNotAcquiredByAVisitorThatBorrowsAFence) {
  Token other = granted(try_acquire(named("ann"))).token;
  other.visitor = VisitorId::named("bob");
  EXPECT_FALSE(seal().is_acquired(other));
  EXPECT_THROW(seal().release(other), SealReleasingError);
  EXPECT_THROW(seal().renew(other), LeaseExpiredError);
  EXPECT_THAT(holders(store(), "gate"), ElementsAre("ann"));
}

TEST_P(LockingSeals, NeverCallAFailingStoreFull) {  // 8
  for (const auto kind : {StoreError::Kind::unavailable, StoreError::Kind::busy,
                          StoreError::Kind::no_room, StoreError::Kind::closed}) {
    store().fail_next(1, kind);
    const auto cause = cause_of<SealAcquiringError>([&] { (void)try_acquire(); });
    ASSERT_TRUE(cause);
    EXPECT_EQ(cause->kind(), kind);
  }
  granted(try_acquire());
}

TEST_P(LockingSeals, FindTheFirstAnswerWhenItWasLost) {
  store().drop_reply_next(1);
  const auto cause = cause_of<SealAcquiringError>([&] { (void)try_acquire(named("ann")); });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->outcome(), StoreError::Outcome::unknown);
  after(4s);
  const Admission held = granted(try_acquire(named("ann")));
  EXPECT_TRUE(held.repeated);
  EXPECT_LASTS(held.expires_in, 6s);
  EXPECT_LASTS(seal().remaining_lifetime(held), 6s - 60ms);
  seal().release(held.token);
  EXPECT_THAT(holders(store(), "gate"), IsEmpty());
}

TEST_P(LockingSeals, WrapAFailingReleaseAndCanBeReleasedAfterIt) {  // 8
  const Admission held = granted(try_acquire());
  store().fail_next(1, StoreError::Kind::unavailable);
  const auto cause = cause_of<SealReleasingError>([&] { seal().release(held.token); });
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->kind(), StoreError::Kind::unavailable);
  EXPECT_TRUE(seal().is_acquired(held.token));
  seal().release(held.token);
}

TEST_P(LockingSeals, DoNotCallAFailedRenewalAnExpiry) {
  Admission held = granted(try_acquire());
  const Instant deadline = held.deadline;
  store().fail_next(1, StoreError::Kind::unavailable);
  EXPECT_THROW(seal().renew(held), StoreError);
  store().drop_reply_next(1);
  EXPECT_THROW(seal().renew(held), StoreError);
  EXPECT_EQ(held.deadline, deadline);
  seal().renew(held);
  EXPECT_TRUE(seal().is_acquired(held.token));
}

TEST_P(LockingSeals, AllowForARenewalThatMayHaveShortenedThem) {
  Admission held = granted(try_acquire());
  store().fail_next(1, StoreError::Kind::unavailable);
  EXPECT_THROW(seal().renew(held, 1s), StoreError);
  EXPECT_LASTS(seal().remaining_lifetime(held), 9'900ms);
  store().drop_reply_next(1);
  EXPECT_THROW(seal().renew(held, 1s), StoreError);
  EXPECT_LASTS(seal().remaining_lifetime(held), 990ms);
}

TEST_P(LockingSeals, DoNotGuessWhetherTheyAreAcquired) {
  const Admission held = granted(try_acquire());
  store().down(true);
  EXPECT_THROW((void)seal().is_acquired(held.token), StoreError);
}

TEST_P(LockingSeals, TellTheRestOfTheirTimeWithoutAskingAndALittleEarly) {
  const Admission held = granted(try_acquire());
  const std::size_t before = store().calls();
  EXPECT_LASTS(seal().remaining_lifetime(held), 9'900ms);
  after(9'900ms - 1us);
  EXPECT_LASTS(seal().remaining_lifetime(held), 1us);
  EXPECT_FALSE(seal().is_expired(held));
  after(1us);
  EXPECT_TRUE(seal().is_expired(held));
  EXPECT_LASTS(seal().remaining_lifetime(held), 0s);
  after(1h);
  EXPECT_LASTS(seal().remaining_lifetime(held), 0s);
  EXPECT_EQ(store().calls(), before);
}

TEST_P(LockingSeals, AreAtLeastTenMillisecondsEarly) {
  make("short", 100ms);
  EXPECT_LASTS(seal().remaining_lifetime(granted(try_acquire())), 90ms);
  make("shortest", 5ms);
  EXPECT_TRUE(seal().is_expired(granted(try_acquire())));
}

TEST_P(LockingSeals, LastFiveMinutesUnlessToldOtherwise) {
  EXPECT_LASTS(LockSeal(bench_.store(), "a").ttl(), 300s);
  EXPECT_LASTS(SemaphoreSeal(bench_.store(), "b", {.limit = 1}).ttl(), 300s);
}

TEST_P(LockingSeals, GiveTheSameVisitorTheSameAdmission) {  // 11
  const Admission first = granted(try_acquire(named("ann")));
  after(4s);
  const Admission again = granted(try_acquire(named("ann")));
  EXPECT_FALSE(first.repeated);
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.token, first.token);
  EXPECT_LASTS(again.expires_in, 6s);
  EXPECT_THAT(holders(store(), "gate"), ElementsAre("ann"));
}

TEST_P(LockingSeals, LeaveTheHoldersAloneWhenTheyRefuse) {  // 11
  const Admission held = granted(try_acquire(named("ann")));
  for (int i = 0; i < 20; ++i) refused(try_acquire(), Reason::full);
  EXPECT_TRUE(seal().is_acquired(held.token));
  EXPECT_THAT(holders(store(), "gate"), ElementsAre("ann"));
}

TEST_P(LockingSeals, OfDifferentGatesKnowNothingOfEachOther) {  // 12
  const Admission one = granted(try_acquire());
  make("other", 10s);
  const Admission other = granted(try_acquire());
  store().purge("other");
  EXPECT_FALSE(seal().is_acquired(other.token));
  make("gate", 10s);
  EXPECT_TRUE(seal().is_acquired(one.token));
}

TEST_P(LockingSeals, AreReleasedByWhoeverHasTheTextOfTheToken) {  // 14
  const std::string text = granted(try_acquire()).token.text();
  make("gate", 10s);  // Another process, say.
  const Token token = Token::parse(text);
  EXPECT_TRUE(seal().is_acquired(token));
  EXPECT_LASTS(seal().remaining_lifetime(seal().renew(token)), 9'900ms);
  seal().release(token);
  granted(try_acquire());
}

TEST_P(LockingSeals, AreHeldByTheTokenAndNotByTheProcess) {
  granted(try_acquire(named("ann")));
  const auto view = store().look("gate");
  ASSERT_TRUE(view);
  ASSERT_EQ(view->holders.size(), 1U);
  EXPECT_EQ(view->holders[0].hold, Hold::detached);
  EXPECT_EQ(view->holders[0].label, "ann");
}

TEST_P(LockingSeals, OutliveTheSealThatAcquiredThem) {  // 95
  const Token token = granted(try_acquire()).token;
  make("other", 10s);
  make("gate", 10s);
  EXPECT_TRUE(seal().is_acquired(token));
  refused(try_acquire(), Reason::full);
}

TEST_P(LockingSeals, KeepTokensOutOfTheirErrors) {
  Admission held = granted(try_acquire(named("ann")));
  std::vector<std::string> texts;
  const auto note = [&](const auto& step) {
    try {
      step();
    } catch (const Error& error) {
      texts.emplace_back(error.what());
    }
  };
  store().down(true);
  note([&] { (void)try_acquire(named("ann")); });
  note([&] { seal().release(held.token); });
  note([&] { seal().renew(held); });
  store().down(false);
  seal().release(held.token);
  note([&] { seal().release(held.token); });
  note([&] { seal().renew(held); });
  Token foreign = held.token;
  foreign.store ^= 1;
  note([&] { seal().release(foreign); });
  note([&] { seal().renew(foreign); });
  ASSERT_EQ(texts.size(), 7U);
  for (const std::string& text : texts) {
    EXPECT_THAT(text, Not(HasSubstr(held.token.text())));
    EXPECT_THAT(text, Not(HasSubstr(held.token.visitor.text())));
    EXPECT_THAT(text, Not(HasSubstr(std::to_string(held.token.fence))));
  }
}

TEST_P(LockingSeals, SayPausedWhenAnOperatorClosedTheGate) {
  store().pause("gate", 5s);
  EXPECT_LASTS(refused(try_acquire(), Reason::paused).retry_after, 5s);
}

TEST_P(LockingSeals, RefuseAVisitorThatStandsInTheLine) {
  const Admission held = granted(try_acquire(named("ann")));
  Request waiting{
      .gate = "gate", .visitor = VisitorId::named("bob"), .permits = Permits{.limit = 1}};
  waiting.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store().admit(waiting)));
  EXPECT_GT(refused(try_acquire(named("bob")), Reason::full).retry_after, 0s);
  refused(try_acquire(named("cid")), Reason::full);
  seal().release(held.token);
  refused(try_acquire(named("cid")), Reason::full);
  EXPECT_FALSE(granted(try_acquire(named("bob"))).repeated);
}

TEST_P(LockingSeals, ChangeNothingWhenTheWallClockJumps) {
  const Admission held = granted(try_acquire());
  bench_.wall_jumps(1h);
  EXPECT_FALSE(seal().is_expired(held));
  EXPECT_TRUE(seal().is_acquired(held.token));
  bench_.wall_jumps(-5h);
  EXPECT_TRUE(seal().is_acquired(held.token));
  after(10s);
  EXPECT_FALSE(seal().is_acquired(held.token));
}

TEST_P(LockingSeals, AreRefusedByTheirConstructorWhenTheTtlIsNone) {
  EXPECT_THROW(make("gate", 0s), InvalidArgument);
  EXPECT_THROW(make("gate", -1s), InvalidArgument);
  EXPECT_THROW(make("gate", kMaxTtl + 1us), InvalidArgument);
  EXPECT_EQ(store().calls(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Stores, LockingSeals,
                         ::testing::Combine(::testing::ValuesIn(all_stores()),
                                            ::testing::ValuesIn(kinds())),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" + std::get<1>(test.param).name;
                         });

// --- what is known locally counts from before the question ---

TEST(LocalDeadline, DoesNotGrowWithTheTimeAnAnswerTakes) {
  airlock::internal::SteppedClock clock;
  const auto store = airlock::testing::memory_store(clock);
  const SemaphoreSeal seal(store, "gate", {.limit = 3, .ttl = 100s});
  const Request heavy{.gate = "gate", .visitor = VisitorId::random(), .permits = Permits{3, 3, 1s}};
  ASSERT_TRUE(std::holds_alternative<Granted>(store.admit(heavy)));
  Request waiting{.gate = "gate", .visitor = VisitorId::random(), .permits = Permits{3}};
  waiting.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store.admit(waiting)));
  // The step that admits the seal's visitor also hands over to the waiter; its callback is slow.
  ASSERT_TRUE(store.watch("gate", waiting.visitor, [&] { clock.advance(5s); }));
  clock.advance(1s);
  const Admission held = granted(seal.try_acquire());
  EXPECT_LASTS(seal.remaining_lifetime(held), 100s - 1s - 5s);
}

}  // namespace
}  // namespace airlock::seals
