#include "airlock/lock_seal.hpp"

#include "seal/support/seal_test.hpp"

// Sharing, promotion and demotion; what all that lock have in common is in locking_seal_test.cpp.

namespace airlock::seals {
namespace {

using ::testing::ElementsAre;

class LockSealTest : public SealTest {
 protected:
  LockSeal lock_{store(), "lock", {.ttl = 10s, .readers = 100}};
};

TEST_P(LockSealTest, ManyReadAndTheWriterComesWhenTheLastIsGone) {  // 16
  const Token ann = granted(lock_.try_acquire_shared()).token;
  const Token bob = granted(lock_.try_acquire_shared()).token;
  refused(lock_.try_acquire(), Reason::full);
  lock_.release(ann);
  refused(lock_.try_acquire(), Reason::full);
  lock_.release(bob);
  granted(lock_.try_acquire());
}

TEST_P(LockSealTest, AWriterKeepsReadersAndWritersOut) {  // 17
  const Token writer = granted(lock_.try_acquire()).token;
  refused(lock_.try_acquire_shared(), Reason::full);
  refused(lock_.try_acquire(), Reason::full);
  lock_.release(writer);
  granted(lock_.try_acquire_shared());
}

TEST_P(LockSealTest, PromotionIsForTheOnlyReader) {  // 18
  const Token ann = granted(lock_.try_acquire_shared()).token;
  const Token bob = granted(lock_.try_acquire_shared()).token;
  EXPECT_GT(refused(lock_.try_promote(ann), Reason::full).retry_after, 0s);
  granted(lock_.try_acquire_shared(named("cid")));  // A refused promotion changed nothing.
  lock_.release(bob);
  refused(lock_.try_promote(ann), Reason::full);
  lock_.release(granted(lock_.try_acquire_shared(named("cid"))).token);
  const Admission writer = granted(lock_.try_promote(ann));
  EXPECT_EQ(writer.token, ann);
  refused(lock_.try_acquire_shared(), Reason::full);
}

TEST_P(LockSealTest, PromotionRenewsAndARefusedOneDoesNot) {
  const Token ann = granted(lock_.try_acquire_shared()).token;
  after(5s);
  const Token bob = granted(lock_.try_acquire_shared()).token;
  refused(lock_.try_promote(ann), Reason::full);
  EXPECT_LASTS(refused(lock_.try_acquire(), Reason::full).retry_after, 5s);
  lock_.release(bob);
  const Admission writer = granted(lock_.try_promote(ann));
  EXPECT_LASTS(writer.expires_in, 10s);
  EXPECT_LASTS(lock_.remaining_lifetime(writer), 9'900ms);
  EXPECT_LASTS(refused(lock_.try_acquire(), Reason::full).retry_after, 10s);
}

TEST_P(LockSealTest, DemotionLetsOtherReadersIn) {  // 19
  const Token ann = granted(lock_.try_acquire()).token;
  after(5s);
  const Admission reader = lock_.demote(ann);
  EXPECT_EQ(reader.token, ann);
  EXPECT_LASTS(reader.expires_in, 10s);
  granted(lock_.try_acquire_shared());
  refused(lock_.try_acquire(), Reason::full);
  refused(lock_.try_promote(ann), Reason::full);
}

TEST_P(LockSealTest, DemotionHandsOverToReadersThatWait) {
  const Token ann = granted(lock_.try_acquire()).token;
  for (const char* name : {"bob", "cid"}) {
    Request waiting{.gate = "lock", .visitor = VisitorId::named(name), .label = name};
    waiting.permits = Permits{.limit = 100, .exclusive = true};
    waiting.line.join = true;
    ASSERT_TRUE(std::holds_alternative<Queued>(store().admit(waiting)));
  }
  lock_.demote(ann);
  EXPECT_EQ(holders("lock").size(), 3U);
}

TEST_P(LockSealTest, WhatIsGoneIsNeitherPromotedNorDemoted) {
  const Token ann = granted(lock_.try_acquire_shared()).token;
  after(10s);
  EXPECT_THROW((void)lock_.try_promote(ann), LeaseExpiredError);
  EXPECT_THROW(lock_.demote(ann), LeaseExpiredError);
  granted(lock_.try_acquire());
}

TEST_P(LockSealTest, WhatIsRevokedIsNotPromoted) {
  const Token ann = granted(lock_.try_acquire_shared()).token;
  store().revoke("lock", std::nullopt, Revoke::graceful);
  EXPECT_THROW((void)lock_.try_promote(ann), LeaseExpiredError);
}

TEST_P(LockSealTest, TheTokenOfAnotherGateIsNeitherPromotedNorDemoted) {
  Token ann = granted(lock_.try_acquire_shared()).token;
  ann.gate = "other";
  EXPECT_THROW((void)lock_.try_promote(ann), LeaseExpiredError);
  EXPECT_THROW(lock_.demote(ann), LeaseExpiredError);
  EXPECT_EQ(store().calls("renew"), 0U);
}

TEST_P(LockSealTest, AFailedPromotionIsNeitherARefusalNorAnExpiry) {
  const Token ann = granted(lock_.try_acquire_shared()).token;
  store().fail_next(2, StoreError::Kind::unavailable);
  EXPECT_THROW((void)lock_.try_promote(ann), StoreError);
  EXPECT_THROW(lock_.demote(ann), StoreError);
  granted(lock_.try_promote(ann));
}

TEST_P(LockSealTest, ReadersAreAtMostAsManyAsConfigured) {
  const LockSeal pair(store(), "pair", {.readers = 2});
  granted(pair.try_acquire_shared());
  granted(pair.try_acquire_shared());
  refused(pair.try_acquire_shared(), Reason::full);
}

TEST_P(LockSealTest, NobodySharesUnlessConfigured) {
  const LockSeal plain(store(), "plain");
  const Admission held = granted(plain.try_acquire_shared());
  refused(plain.try_acquire_shared(), Reason::full);
  EXPECT_EQ(held.slot, Slot(0));
  granted(plain.try_promote(held.token));
  EXPECT_EQ(store().look("plain")->counts.limit, 1U);
}

TEST_P(LockSealTest, AnOperatorCannotLetASecondWriterIn) {
  const LockSeal plain(store(), "plain");
  for (const LockSeal& lock : {plain, lock_}) {
    granted(lock.try_acquire());
    store().set_limit(lock.gate(), 1'000);
    refused(lock.try_acquire(), Reason::full);
    refused(lock.try_acquire_shared(), Reason::full);
  }
}

TEST_P(LockSealTest, AnOperatorCanLowerTheNumberOfReaders) {
  store().set_limit("lock", 2);
  const Token ann = granted(lock_.try_acquire_shared()).token;
  const Token bob = granted(lock_.try_acquire_shared()).token;
  refused(lock_.try_acquire_shared(), Reason::full);
  lock_.release(ann);
  granted(lock_.try_promote(bob));  // Heavier than the override: alone.
  refused(lock_.try_acquire_shared(), Reason::full);
  store().set_limit("lock", 0);
  lock_.release(bob);
  refused(lock_.try_acquire(), Reason::full);
}

TEST_P(LockSealTest, CallersThatDisagreeAreShownToTheOperator) {
  granted(lock_.try_acquire_shared());
  (void)LockSeal(store(), "lock", {.readers = 5}).try_acquire();
  EXPECT_TRUE(store().look("lock")->limits_disagree);
}

TEST_P(LockSealTest, AWrongConfigurationShowsWhenTheSealIsMade) {
  EXPECT_THROW(LockSeal(store(), "lock", {.readers = 0}), InvalidArgument);
  EXPECT_THROW(LockSeal(store(), "lock", {.readers = kMaxLimit + 1}), InvalidArgument);
  EXPECT_THROW(LockSeal(store(), "", {}), InvalidArgument);
  EXPECT_THROW(LockSeal(store(), "lock\n", {}), InvalidArgument);
  EXPECT_THROW(LockSeal(Store(), "lock", {}), InvalidArgument);
  EXPECT_EQ(store().calls(), 0U);
}

TEST_P(LockSealTest, SealsOfOneGateAreOneLock) {
  const LockSeal other(store(), "lock", {.ttl = 10s, .readers = 100});
  const Token token = granted(other.try_acquire(named("ann"))).token;
  refused(lock_.try_acquire(), Reason::full);
  EXPECT_THAT(holders("lock"), ElementsAre("ann"));
  lock_.release(token);
}

INSTANTIATE_TEST_SUITE_P(Stores, LockSealTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

}  // namespace
}  // namespace airlock::seals
