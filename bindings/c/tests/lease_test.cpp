#include <utility>

#include "support.hpp"

namespace airlock::c_test {
namespace {

using CLease = StoreTest;
INSTANTIATE_TEST_SUITE_P(Stores, CLease, testing::ValuesIn(stores()), name_of);

TEST_P(CLease, ItSaysWhatItIsUntilItIsReleased) {
  const Gate erp = gate("erp", limit_of(2));
  const Lease lease = enter(erp);
  EXPECT_EQ(airlock_lease_valid(lease.get()), 1);
  EXPECT_GT(airlock_lease_remaining(lease.get()), 20 * AIRLOCK_SECOND);
  EXPECT_GT(airlock_lease_fence(lease.get()), 0U);
  EXPECT_EQ(airlock_lease_slot(lease.get()), 0);
  EXPECT_EQ(airlock_lease_guarded(lease.get()), 1);
  char token[AIRLOCK_TOKEN_SIZE];
  EXPECT_EQ(airlock_lease_token(lease.get(), token, nullptr), AIRLOCK_DONE);

  auto parts = sized<airlock_token_parts>();
  ASSERT_EQ(airlock_token_parse(text(token), &parts, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(parts.fence, airlock_lease_fence(lease.get()));
  EXPECT_EQ(std::string(parts.gate), own("erp"));
  EXPECT_NE(parts.visitor.high | parts.visitor.low, 0U);
  EXPECT_NE(parts.store, 0U);

  EXPECT_EQ(airlock_lease_release(lease.get(), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_lease_release(lease.get(), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_lease_valid(lease.get()), 0);
  EXPECT_EQ(airlock_lease_remaining(lease.get()), 0);
  EXPECT_EQ(airlock_lease_fence(lease.get()), 0U);
  EXPECT_EQ(airlock_lease_slot(lease.get()), -1);
  EXPECT_EQ(airlock_lease_guarded(lease.get()), 0);
  EXPECT_EQ(airlock_lease_token(lease.get(), token, nullptr), AIRLOCK_NOTHING);
  EXPECT_EQ(airlock_lease_detach(lease.get(), token, nullptr), AIRLOCK_GONE);
  EXPECT_EQ(counts("erp").in_use, 0U);
}

TEST_P(CLease, OfNullThereIsNothing) {
  EXPECT_EQ(airlock_lease_valid(nullptr), 0);
  EXPECT_EQ(airlock_lease_remaining(nullptr), 0);
  EXPECT_EQ(airlock_lease_fence(nullptr), 0U);
  EXPECT_EQ(airlock_lease_slot(nullptr), -1);
  EXPECT_EQ(airlock_lease_guarded(nullptr), 0);
}

TEST_P(CLease, OneThatWasRevokedIsGone) {
  const Gate erp = gate("erp", limit_of(1));
  const Lease lease = enter(erp);
  std::size_t count = 0;
  ASSERT_EQ(airlock_revoke(store(), text(own("erp")), nullptr, 1, &count, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(airlock_lease_release(lease.get(), nullptr), AIRLOCK_GONE);
  EXPECT_EQ(airlock_lease_release(lease.get(), nullptr), AIRLOCK_DONE);
}

TEST_P(CLease, ItIsRenewedUnlessMaxHoldIsShort) {
  auto options = limit_of(1);
  options.ttl = 6 * AIRLOCK_SECOND;
  const Gate renewed = gate("renewed", options);
  options.ttl = options.max_hold = 200 * AIRLOCK_MILLISECOND;
  const Gate bounded = gate("bounded", options);
  const Lease stays = enter(renewed);
  const Lease ends = enter(bounded);
  EXPECT_TRUE(eventually([&] { return airlock_lease_valid(ends.get()) == 0; }));
  EXPECT_TRUE(eventually([&] { return counts("bounded").in_use == 0; }));
  EXPECT_EQ(airlock_lease_release(ends.get(), nullptr), AIRLOCK_GONE);

  std::int64_t before = airlock_lease_remaining(stays.get());
  EXPECT_TRUE(eventually([&] {
    const std::int64_t now = airlock_lease_remaining(stays.get());
    return now > std::exchange(before, now);
  }));
}

TEST_P(CLease, ATokenTravelsAndIsTakenUp) {
  const Gate erp = gate("erp", limit_of(1));
  Lease lease = enter(erp);
  const std::uint64_t fence = airlock_lease_fence(lease.get());
  char token[AIRLOCK_TOKEN_SIZE];
  ASSERT_EQ(airlock_lease_detach(lease.get(), token, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_lease_valid(lease.get()), 0);
  lease.reset();
  EXPECT_EQ(airlock_token_holds(store(), text(token), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_token_renew(store(), text(token), kSoon, nullptr), AIRLOCK_DONE);

  Lease adopted;
  Error error;
  ASSERT_EQ(airlock_lease_adopt(store(), text(token), 0, Into(adopted), &error), AIRLOCK_DONE)
      << error.text;
  EXPECT_EQ(airlock_lease_fence(adopted.get()), fence);
  EXPECT_GT(airlock_lease_remaining(adopted.get()), 20 * AIRLOCK_SECOND);  // The default ttl: 30 s.
  EXPECT_LT(airlock_lease_remaining(adopted.get()), 30 * AIRLOCK_SECOND);
  EXPECT_EQ(airlock_lease_release(adopted.get(), nullptr), AIRLOCK_DONE);

  EXPECT_EQ(airlock_token_holds(store(), text(token), nullptr), AIRLOCK_GONE);
  EXPECT_EQ(airlock_token_renew(store(), text(token), kSoon, nullptr), AIRLOCK_GONE);
  EXPECT_EQ(airlock_token_release(store(), text(token), nullptr), AIRLOCK_GONE);
  EXPECT_EQ(airlock_lease_adopt(store(), text(token), 0, Into(adopted), nullptr), AIRLOCK_GONE);
  EXPECT_EQ(adopted, nullptr);
}

TEST_P(CLease, ATextThatIsNoTokenIsInvalidAndNotRepeated) {
  const std::string secret = "airlock1~secret";
  Error error;
  EXPECT_EQ(airlock_token_release(store(), text(secret), &error), AIRLOCK_INVALID);
  EXPECT_EQ(std::string(error.text).find("secret"), std::string::npos) << error.text;
  auto parts = sized<airlock_token_parts>();
  EXPECT_EQ(airlock_token_parse(text(secret), &parts, &error), AIRLOCK_INVALID);
  EXPECT_EQ(airlock_token_parse(text(""), &parts, &error), AIRLOCK_INVALID);
}

}  // namespace
}  // namespace airlock::c_test
