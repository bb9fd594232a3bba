#include <atomic>
#include <thread>
#include <vector>

#include "admission/support/waiting_test.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"

// Visitors that are not connected all the time.

namespace airlock {
namespace {

using Status = Claim::Status;

const VisitorId kAnn = VisitorId::named("ann");
const VisitorId kBob = VisitorId::named("bob");
const VisitorId kCid = VisitorId::named("cid");

class ClaimTest : public WaitingTest {
 protected:
  Token enters(const VisitorId& visitor) { return std::get<Granted>(room_.admit(visitor)).token; }
  std::uint32_t waits(const VisitorId& visitor) {
    return std::get<Queued>(room_.admit(visitor)).position;
  }

  // Another process at the same line: it has its own airlock and knows nothing of the first.
  Airlock elsewhere_{store_, "tickets", {.limit = 1, .ttl = 5min, .patience = 1min}};
  Airlock room_{store_, "tickets", {.limit = 1, .ttl = 5min, .patience = 1min}};
};

TEST_P(ClaimTest, ANewVisitorIsInOrGetsAPlace) {
  enters(kAnn);
  EXPECT_EQ(waits(kBob), 1U);
  EXPECT_EQ(waits(kCid), 2U);
}

TEST_P(ClaimTest, WhoAsksTwiceTakesOnePlace) {
  const Token token = enters(kAnn);
  EXPECT_TRUE(std::get<Granted>(elsewhere_.admit(kAnn)).repeated);
  EXPECT_EQ(std::get<Granted>(elsewhere_.admit(kAnn)).token, token);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(waits(kBob), 1U);
  EXPECT_EQ(waiting("tickets"), 1U);
}

TEST_P(ClaimTest, AHandOverIsClaimedInAnyProcess) {
  const Token ann = enters(kAnn);
  waits(kBob);
  EXPECT_TRUE(store_.release(ann));
  const Claim claim = elsewhere_.claim(kBob);
  ASSERT_EQ(claim.status, Status::claimed);
  EXPECT_EQ(claim.granted->expires_in, 5min) << "the ttl counts from the claim";
  EXPECT_TRUE(store_.release(claim.granted->token));
}

TEST_P(ClaimTest, WhoseTurnHasNotComeKeepsItsPlace) {
  enters(kAnn);
  waits(kBob);
  waits(kCid);
  const Claim claim = elsewhere_.claim(kCid);
  ASSERT_EQ(claim.status, Status::unavailable);
  EXPECT_EQ(claim.queued->position, 2U);
  EXPECT_EQ(claim.queued->waiting, 2U);
}

TEST_P(ClaimTest, AStrangerHasMissedAndTakesNothing) {
  EXPECT_EQ(room_.claim(kAnn).status, Status::missed);
  EXPECT_TRUE(is_left_with(0, "tickets"));
  enters(kAnn);
  EXPECT_EQ(room_.claim(kBob).status, Status::missed);
  EXPECT_EQ(waiting("tickets"), 0U);
}

TEST_P(ClaimTest, AHandOverWaitsTenSeconds) {
  const Token ann = enters(kAnn);
  waits(kBob);
  waits(kCid);
  EXPECT_TRUE(store_.release(ann));
  clock_.advance(10s - 1us);
  EXPECT_EQ(room_.claim(kCid).status, Status::unavailable);
  clock_.advance(1us);
  EXPECT_EQ(room_.claim(kCid).status, Status::claimed) << "nobody had to tick it";
  const Claim late = room_.claim(kBob);
  ASSERT_EQ(late.status, Status::unavailable);
  EXPECT_EQ(late.queued->position, 1U) << "first again";
}

TEST_P(ClaimTest, TheWindowMayBeSet) {
  const Airlock hasty(store_, "hasty", {.limit = 1, .claim_window = 2s});
  const Token ann = std::get<Granted>(hasty.admit(kAnn)).token;
  (void)hasty.admit(kBob);
  EXPECT_TRUE(store_.release(ann));
  EXPECT_EQ(store_.look("hasty")->holders.front().remaining, 2s);
}

TEST_P(ClaimTest, WhoWasAwayLongerThanItsPatienceHasMissed) {
  const Token ann = enters(kAnn);
  waits(kBob);
  EXPECT_TRUE(store_.release(ann));
  clock_.advance(1min);
  EXPECT_EQ(room_.claim(kBob).status, Status::missed);
  EXPECT_TRUE(is_left_with(0, "tickets"));
  enters(kBob);
}

TEST_P(ClaimTest, WhoIsInFindsItsTokenAgain) {
  const Token ann = enters(kAnn);
  clock_.advance(1min);
  const Claim again = elsewhere_.claim(kAnn);
  ASSERT_EQ(again.status, Status::claimed);
  EXPECT_TRUE(again.granted->repeated);
  EXPECT_EQ(again.granted->token, ann);
  EXPECT_EQ(again.granted->expires_in, 4min) << "nothing is renewed";
}

TEST_P(ClaimTest, ALostReplyIsFoundByClaimingAgain) {
  const Token ann = enters(kAnn);
  waits(kBob);
  EXPECT_TRUE(store_.release(ann));
  store_.drop_reply_next(1);
  EXPECT_THROW((void)room_.claim(kBob), SealAcquiringError);
  clock_.advance(1s);
  EXPECT_EQ(room_.claim(kBob).status, Status::claimed);
  EXPECT_EQ(holders("tickets"), 1U);
}

TEST_P(ClaimTest, WhoLeavesLetsTheNextOneIn) {
  const Token ann = enters(kAnn);
  waits(kBob);
  waits(kCid);
  EXPECT_TRUE(store_.release(ann));
  EXPECT_TRUE(elsewhere_.leave(kBob)) << "also what it was handed";
  EXPECT_FALSE(elsewhere_.leave(kBob));
  EXPECT_EQ(room_.claim(kCid).status, Status::claimed);
}

TEST_P(ClaimTest, WhoWaitsHereStandsInTheSameLine) {
  Token ann = enters(kAnn);
  Place here = room_.join_for(1h);
  waits(kBob);
  EXPECT_TRUE(store_.release(ann));
  Outcome<Lease> lease = here.wait();
  ASSERT_TRUE(lease);
  EXPECT_EQ(room_.claim(kBob).status, Status::unavailable);
  lease->release();
  EXPECT_EQ(room_.claim(kBob).status, Status::claimed);
}

TEST_P(ClaimTest, AProcessMayTakeUpTheToken) {
  enters(kAnn);
  const Lease lease = Lease::adopt(store_, room_.claim(kAnn).granted->token, 30s);
  pass(10min);
  EXPECT_TRUE(lease.valid()) << "the keeper renews it";
}

TEST_P(ClaimTest, RatesAndLateComersAreRefused) {
  const Airlock slow(store_, "slow", {.limit = 9, .rates = {{.count = 1, .period = 1min}}});
  EXPECT_TRUE(std::holds_alternative<Granted>(slow.admit(kAnn)));
  EXPECT_TRUE(std::holds_alternative<Queued>(slow.admit(kBob))) << "its turn comes by time";
  const Airlock short_line(store_, "slow", {.limit = 9, .max_waiting = 1});
  EXPECT_EQ(std::get<Refused>(short_line.admit(kCid)).reason, Reason::line_full);
}

TEST_P(ClaimTest, AFailingStoreIsAnErrorWhateverThePolicy) {
  const Airlock open(store_, "tickets", {.limit = 1, .outage = Outage::open});
  store_.down(true);
  EXPECT_THROW((void)open.admit(kAnn), SealAcquiringError);
  EXPECT_THROW((void)open.claim(kAnn), SealAcquiringError);
  EXPECT_THROW((void)open.leave(kAnn), StoreError);
}

TEST_P(ClaimTest, AClosedStoreTakesNobody) {
  store_.close();
  EXPECT_THROW((void)room_.admit(kAnn), StoreError);
  EXPECT_THROW((void)room_.claim(kAnn), StoreError);
}

TEST_P(ClaimTest, TheObserverHearsOfEachAdmissionOnce) {
  struct Log : Observer {
    void on(const Event& event) override { kinds.push_back(event.kind); }
    std::vector<Event::Kind> kinds;
  };
  const auto log = std::make_shared<Log>();
  const Airlock told(store_, "tickets", {.limit = 1, .observer = log});
  const Answer ann = told.admit(kAnn);
  (void)told.admit(kAnn);
  (void)told.admit(kBob);
  (void)told.claim(kBob);
  (void)told.claim(kCid);
  EXPECT_TRUE(store_.release(std::get<Granted>(ann).token));
  (void)told.claim(kBob);
  EXPECT_THAT(log->kinds, ::testing::ElementsAre(Event::Kind::granted, Event::Kind::refused,
                                                 Event::Kind::granted));
}

// Eight servers ask for all visitors all the time; whoever is let in is let in once.
TEST_P(ClaimTest, SeveralProcessesMayServeTheSameLine) {
  constexpr int kVisitors = 60;
  const auto named = [](int number) { return VisitorId::named(std::to_string(number)); };
  for (int i = 0; i < kVisitors; ++i) (void)room_.admit(named(i));
  std::atomic<int> served = 0;
  const auto serve = [&] {
    const Airlock mine(store_, "tickets", {.limit = 1});
    for (int i = 0; served < kVisitors; i = (i + 1) % kVisitors) {
      const Claim claim = mine.claim(named(i));
      if (claim.status != Status::claimed) continue;
      if (store_.release(claim.granted->token)) ++served;  // Else another was faster.
    }
  };
  {
    std::vector<std::jthread> servers;
    for (int i = 0; i < 8; ++i) servers.emplace_back(serve);
  }
  EXPECT_EQ(served, kVisitors);
  EXPECT_EQ(store_.look("tickets")->counters.granted, static_cast<std::uint64_t>(kVisitors));
  EXPECT_EQ(store_.look("tickets")->counters.missed, 0U);
}

AIRLOCK_WAITING_SUITE(ClaimTest);

}  // namespace
}  // namespace airlock
