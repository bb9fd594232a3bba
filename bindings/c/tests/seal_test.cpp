#include "support.hpp"

namespace airlock::c_test {
namespace {

class CSeal : public StoreTest {
 protected:
  [[nodiscard]] Seal lock(std::string_view name) const {
    Seal seal;
    EXPECT_EQ(airlock_seal_lock(store(), text(own(name)), 0, Into(seal), nullptr), AIRLOCK_DONE);
    return seal;
  }
  [[nodiscard]] Seal rates(std::string_view name, std::uint32_t count,
                           std::int64_t dedupe = 0) const {
    const airlock_rate rate{.count = count,
                            .burst = 0,
                            .period = 3600 * AIRLOCK_SECOND,
                            .algorithm = AIRLOCK_GCRA,
                            .reserved = 0};
    Seal seal;
    EXPECT_EQ(airlock_seal_rates(store(), text(own(name)), &rate, 1, dedupe, Into(seal), nullptr),
              AIRLOCK_DONE);
    return seal;
  }
  [[nodiscard]] Seal cooldown(std::string_view name) const {
    Seal seal;
    EXPECT_EQ(
        airlock_seal_cooldown(store(), text(own(name)), 60 * AIRLOCK_SECOND, Into(seal), nullptr),
        AIRLOCK_DONE);
    return seal;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, CSeal, testing::ValuesIn(stores()), name_of);

TEST_P(CSeal, ALockIsTakenRenewedAndReleased) {
  const Seal seal = lock("report");
  EXPECT_EQ(airlock_seal_is_locking(seal.get()), 1);
  EXPECT_EQ(airlock_seal_is_atomic(seal.get()), 1);
  Answer answer;
  ASSERT_EQ(airlock_seal_try(seal.get(), nullptr, &answer, nullptr), AIRLOCK_DONE);
  const std::string token = answer.token;
  EXPECT_GT(answer.fence, 0U);
  EXPECT_GT(airlock_seal_remaining(seal.get(), answer.deadline),
            200 * AIRLOCK_SECOND);  // The default ttl: 300 s.
  EXPECT_EQ(airlock_seal_remaining(seal.get(), 0), 0);
  EXPECT_EQ(airlock_seal_holds(seal.get(), text(token), nullptr), AIRLOCK_DONE);

  Answer other;
  EXPECT_EQ(airlock_seal_try(seal.get(), nullptr, &other, nullptr), AIRLOCK_REFUSED);
  EXPECT_EQ(other.reason, AIRLOCK_REASON_FULL);
  EXPECT_EQ(other.token[0], '\0');

  ASSERT_EQ(airlock_seal_renew(seal.get(), text(token), kSoon, &answer, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(std::string(answer.token), token);
  EXPECT_GT(airlock_seal_remaining(seal.get(), answer.deadline), 0);
  EXPECT_LT(airlock_seal_remaining(seal.get(), answer.deadline), kSoon);
  ASSERT_EQ(airlock_seal_renew(seal.get(), text(token), 0, &answer, nullptr), AIRLOCK_DONE);
  EXPECT_GT(airlock_seal_remaining(seal.get(), answer.deadline), 200 * AIRLOCK_SECOND);

  EXPECT_EQ(airlock_seal_release(seal.get(), text(token), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_seal_release(seal.get(), text(token), nullptr), AIRLOCK_GONE);
  EXPECT_EQ(airlock_seal_holds(seal.get(), text(token), nullptr), AIRLOCK_GONE);
  EXPECT_EQ(airlock_seal_renew(seal.get(), text(token), 0, &answer, nullptr), AIRLOCK_GONE);
  EXPECT_EQ(answer.deadline, 0);
}

TEST_P(CSeal, ATokenOfAnotherGateIsInvalid) {
  const Seal a = lock("a");
  const Seal b = lock("b");
  Answer answer;
  ASSERT_EQ(airlock_seal_try(a.get(), nullptr, &answer, nullptr), AIRLOCK_DONE);
  Error error;
  Answer renewed;
  EXPECT_EQ(airlock_seal_release(b.get(), text(answer.token), &error), AIRLOCK_INVALID);
  EXPECT_EQ(airlock_seal_renew(b.get(), text(answer.token), 0, &renewed, &error), AIRLOCK_INVALID);
  EXPECT_EQ(airlock_seal_holds(b.get(), text(answer.token), &error), AIRLOCK_INVALID);
  EXPECT_EQ(airlock_seal_holds(a.get(), text(answer.token), &error), AIRLOCK_DONE);
}

TEST_P(CSeal, ASemaphoreHasALimitAndAVisitorIsFoundAgain) {
  Seal seal;
  ASSERT_EQ(airlock_seal_semaphore(store(), text(own("pool")), 2, 0, 0, Into(seal), nullptr),
            AIRLOCK_DONE);
  airlock_visitor alice{};
  ASSERT_EQ(airlock_visitor_named(text("alice"), &alice, nullptr), AIRLOCK_DONE);
  auto ask = sized<airlock_seal_ask>();
  ask.visitor = &alice;
  ask.label = text("alice");
  Answer first;
  Answer again;
  ASSERT_EQ(airlock_seal_try(seal.get(), &ask, &first, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_seal_try(seal.get(), &ask, &again, nullptr), AIRLOCK_DONE);
  EXPECT_STREQ(first.token, again.token);
  EXPECT_EQ(again.repeated, 1U);
  EXPECT_EQ(airlock_seal_try(seal.get(), nullptr, &again, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_seal_try(seal.get(), nullptr, &again, nullptr), AIRLOCK_REFUSED);

  Error error;
  EXPECT_EQ(airlock_seal_semaphore(store(), text(own("pool")), 0, 1, 0, Into(seal), &error),
            AIRLOCK_INVALID);
  EXPECT_EQ(seal, nullptr);
}

TEST_P(CSeal, ACooldownGrantsNothingToRelease) {
  const Seal seal = cooldown("mail");
  EXPECT_EQ(airlock_seal_is_locking(seal.get()), 0);
  Answer answer;
  ASSERT_EQ(airlock_seal_try(seal.get(), nullptr, &answer, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(answer.token[0], '\0');
  EXPECT_EQ(airlock_seal_try(seal.get(), nullptr, &answer, nullptr), AIRLOCK_REFUSED);
  EXPECT_GT(answer.retry_after, 0);
  Error error;
  EXPECT_EQ(airlock_seal_release(seal.get(), text("x"), &error), AIRLOCK_INVALID);
  auto ask = sized<airlock_seal_ask>();
  ask.cost = 2;
  EXPECT_EQ(airlock_seal_try(seal.get(), &ask, &answer, &error), AIRLOCK_INVALID);
}

TEST_P(CSeal, RatesAreTakenInFourWays) {
  const Seal seal = rates("api", 10);
  Answer answer;
  ASSERT_EQ(airlock_seal_take(seal.get(), AIRLOCK_PEEK, 0, 0, &answer, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(answer.rate.remaining, 10U);
  ASSERT_EQ(airlock_seal_take(seal.get(), AIRLOCK_TAKE, 6, 0, &answer, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(answer.rate.remaining, 4U);
  EXPECT_EQ(answer.rate.limit, 10U);
  EXPECT_GT(answer.rate.reset_after, 0);
  EXPECT_EQ(answer.taken, 6U);
  ASSERT_EQ(airlock_seal_take(seal.get(), AIRLOCK_AT_MOST, 9, 0, &answer, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(answer.taken, 4U);
  EXPECT_EQ(airlock_seal_take(seal.get(), AIRLOCK_TAKE, 0, 0, &answer, nullptr), AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_RATE);
  EXPECT_EQ(airlock_seal_take(seal.get(), AIRLOCK_RESERVE, 1, AIRLOCK_SECOND, &answer, nullptr),
            AIRLOCK_REFUSED);
  ASSERT_EQ(
      airlock_seal_take(seal.get(), AIRLOCK_RESERVE, 1, 3600 * AIRLOCK_SECOND, &answer, nullptr),
      AIRLOCK_DONE);
  EXPECT_GT(answer.delay, AIRLOCK_SECOND);

  Error error;
  EXPECT_EQ(airlock_seal_take(seal.get(), AIRLOCK_TAKE, 1, 1, &answer, &error), AIRLOCK_INVALID);
  EXPECT_EQ(airlock_seal_take(seal.get(), 4, 1, 0, &answer, &error), AIRLOCK_INVALID);
  EXPECT_EQ(airlock_seal_take(lock("l").get(), AIRLOCK_TAKE, 1, 0, &answer, &error),
            AIRLOCK_INVALID);
}

TEST_P(CSeal, WithDedupeAVisitorPaysOnce) {
  const Seal seal = rates("api", 10, 60 * AIRLOCK_SECOND);
  const airlock_visitor alice{1, 2};
  auto ask = sized<airlock_seal_ask>();
  ask.visitor = &alice;
  ask.cost = 4;
  Answer answer;
  ASSERT_EQ(airlock_seal_try(seal.get(), &ask, &answer, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_seal_try(seal.get(), &ask, &answer, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_seal_take(seal.get(), AIRLOCK_PEEK, 0, 0, &answer, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(answer.rate.remaining, 6U);
}

TEST_P(CSeal, ACompositeNeedsBoth) {
  Seal both;
  {
    const Seal first = lock("vendor");
    const Seal second = rates("vendor", 3);
    ASSERT_EQ(airlock_seal_composite(first.get(), second.get(), Into(both), nullptr), AIRLOCK_DONE);
  }
  EXPECT_EQ(airlock_seal_is_locking(both.get()), 1);
  EXPECT_EQ(airlock_seal_is_atomic(both.get()), 1);
  auto ask = sized<airlock_seal_ask>();
  ask.cost = 2;
  Answer answer;
  ASSERT_EQ(airlock_seal_try(both.get(), &ask, &answer, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_seal_holds(both.get(), text(answer.token), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_seal_release(both.get(), text(answer.token), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_seal_try(both.get(), &ask, &answer, nullptr), AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_RATE);

  Error error;
  Seal wrong;
  EXPECT_EQ(airlock_seal_composite(lock("a").get(), lock("b").get(), Into(wrong), &error),
            AIRLOCK_INVALID);
  EXPECT_EQ(airlock_seal_composite(cooldown("c").get(), cooldown("d").get(), Into(wrong), &error),
            AIRLOCK_INVALID);
  EXPECT_EQ(airlock_seal_composite(both.get(), cooldown("d").get(), Into(wrong), &error),
            AIRLOCK_INVALID);
  Seal chained;
  EXPECT_EQ(airlock_seal_composite(lock("a").get(), cooldown("z").get(), Into(chained), &error),
            AIRLOCK_DONE);
  EXPECT_EQ(airlock_seal_is_atomic(chained.get()), 0);
}

}  // namespace
}  // namespace airlock::c_test
