#include "airlock/cooldown_seal.hpp"

#include <concepts>

#include "seal/support/seal_test.hpp"

namespace airlock::seals {
namespace {

using ::testing::ElementsAre;

template <typename S>
concept CanRelease = requires(const S& seal, const Token& token) {
  seal.release(token);
};
template <typename S>
concept CanRenew = requires(const S& seal, const Token& token) {
  seal.renew(token);
};

static_assert(!CanRelease<CooldownSeal> && !CanRenew<CooldownSeal>);
static_assert(!std::derived_from<CooldownSeal, LockingSeal>);

class CooldownSealTest : public SealTest {
 protected:
  CooldownSeal resend_{store(), gate_name("resend", "ann"), 30s};
};

TEST_P(CooldownSealTest, PassesOncePerPeriod) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_LASTS(granted(resend_.try_acquire()).expires_in, 30s);
    refused(resend_.try_acquire(), Reason::full);
    after(30s - 1us);
    refused(resend_.try_acquire(), Reason::full);
    after(1us);
  }
}

TEST_P(CooldownSealTest, SaysWhatIsLeftOfThePeriod) {
  granted(resend_.try_acquire());
  EXPECT_LASTS(refused(resend_.try_acquire(), Reason::full).retry_after, 30s);
  after(12s + 345ms);
  EXPECT_LASTS(refused(resend_.try_acquire(), Reason::full).retry_after, 17s + 655ms);
}

TEST_P(CooldownSealTest, IsNotProlongedByAsking) {
  granted(resend_.try_acquire());
  for (int i = 0; i < 29; ++i) {
    after(1s);
    refused(resend_.try_acquire(), Reason::full);
  }
  after(1s);
  granted(resend_.try_acquire());
}

TEST_P(CooldownSealTest, IsPerGate) {
  granted(resend_.try_acquire());
  granted(CooldownSeal(store(), gate_name("resend", "bob"), 30s).try_acquire());
}

TEST_P(CooldownSealTest, CannotBeLoosenedByAnOperatorsLimit) {
  store().set_limit(resend_.gate(), 10);
  granted(resend_.try_acquire());
  refused(resend_.try_acquire(), Reason::full);
}

TEST_P(CooldownSealTest, OutlivesTheProcessAndHasALabel) {
  granted(resend_.try_acquire({.label = "signup form"}));
  EXPECT_THAT(holders(resend_.gate()), ElementsAre("signup form"));
  EXPECT_EQ(store().look(resend_.gate())->holders.at(0).hold, Hold::detached);
}

TEST_P(CooldownSealTest, NeverCallsAFailingStoreCoolingDown) {
  store().fail_next(1, StoreError::Kind::busy);
  EXPECT_TRUE(cause_of<SealAcquiringError>([&] { (void)resend_.try_acquire(); }));
  granted(resend_.try_acquire());
}

TEST_P(CooldownSealTest, AWrongPeriodShowsWhenTheSealIsMade) {
  EXPECT_THROW(CooldownSeal(store(), "gate", 0s), InvalidArgument);
  EXPECT_THROW(CooldownSeal(store(), "gate", -1s), InvalidArgument);
  EXPECT_EQ(store().calls(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Stores, CooldownSealTest, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

}  // namespace
}  // namespace airlock::seals
