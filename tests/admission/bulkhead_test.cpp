#include "airlock/bulkhead.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "admission/support/waiting_test.hpp"

namespace airlock {
namespace {

class BulkheadTest : public WaitingTest {};

TEST_P(BulkheadTest, ReturnsTheValueOfTheCallable) {
  const Bulkhead erp(store_, "erp", {.limit = 1});
  EXPECT_EQ(erp.call([](Lease& lease) { return lease.slot().value(); }), 0U);
  EXPECT_EQ(erp.call([] { return std::string("rows"); }), "rows");
  erp.call([] {});
  int x = 1;
  int& same = erp.call([&]() -> int& { return x; });
  EXPECT_EQ(&same, &x);
  EXPECT_EQ(*erp.call([] { return std::make_unique<int>(7); }), 7);
  EXPECT_TRUE(is_left_with(0, "erp"));
}

TEST_P(BulkheadTest, PassesTheExceptionOnAndGivesBack) {
  const Bulkhead erp(store_, "erp", {.limit = 1});
  EXPECT_THROW(erp.call([] { throw std::logic_error("bad row"); }), std::logic_error);
  EXPECT_TRUE(is_left_with(0, "erp"));
}

TEST_P(BulkheadTest, PassesTheExceptionOnThoughGivingBackFails) {
  const Bulkhead erp(store_, "erp", {.limit = 1});
  EXPECT_THROW(erp.call([&] {
    store_.fail_next(1, StoreError::Kind::busy);
    throw std::logic_error("bad row");
  }),
               std::logic_error);
  const auto is_back = [&] {
    clock_.advance(1ms);
    try {
      return holders("erp") == 0;
    } catch (const StoreError&) {
      return false;  // Met the failure in its place.
    }
  };
  EXPECT_TRUE(eventually(is_back)) << "tried again in the background";
}

TEST_P(BulkheadTest, WaitsForASlotAsLongAsItMay) {
  const Bulkhead erp(store_, "erp", {.limit = 1, .max_wait = 1h});
  Lease holder = erp.acquire();
  int value = 0;
  {
    std::jthread caller([&] { value = erp.call([] { return 7; }); });
    ASSERT_TRUE(eventually([&] { return waiting("erp") == 1; }));
    holder.release();
  }
  EXPECT_EQ(value, 7);
}

TEST_P(BulkheadTest, CountsWhatIsFreeOfManyKeysAndOfNone) {
  const KeyedBulkhead tenants(store_, "vendor", {.limit = 2, .ttl = 1s});
  (void)tenants.acquire("119").detach();
  clock_.advance(1s);
  const Lease held = tenants.acquire("60");
  std::vector<std::string> names;
  for (int i = 0; i < 120; ++i) names.push_back(std::to_string(i));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  const std::vector<std::uint32_t> free = tenants.available_slots(keys);
  ASSERT_EQ(free.size(), 120U);
  EXPECT_EQ(free[60], 1U);
  EXPECT_EQ(std::ranges::count(free, 2U), 119) << "what has ended does not count";
  const std::size_t before = store_.calls();
  EXPECT_TRUE(tenants.available_slots(std::span<const std::string_view>()).empty());
  EXPECT_LE(store_.calls(), before + 1);
}

TEST_P(BulkheadTest, SaysWhyItIsFull) {
  const Bulkhead erp(store_, "erp", {.limit = 1, .ttl = 10s});
  const Lease lease = erp.acquire();
  try {
    erp.call([] { FAIL(); });
    FAIL() << "it was full";
  } catch (const BulkheadFullError& error) {
    EXPECT_EQ(error.gate(), GateName("erp"));
    EXPECT_EQ(error.limit(), 1U);
    EXPECT_EQ(error.reason(), Reason::full);
    EXPECT_EQ(error.waited(), 0s);
    EXPECT_EQ(error.retry_after(), 10s);
    EXPECT_STREQ(error.what(), "gate \"erp\": full, limit 1, waited 0s, retry after 10s");
  }
  const Outcome<int> page = erp.try_call([] { return 1; });
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().retry_after, 10s);
  EXPECT_FALSE(erp.try_acquire());
}

TEST_P(BulkheadTest, KeepsTheValueWhenTheReleaseFails) {
  struct Log : Observer {
    void on(const Event& event) override { kinds.push_back(event.kind); }
    std::vector<Event::Kind> kinds;
  };
  const auto log = std::make_shared<Log>();
  const Bulkhead erp(store_, "erp", {.limit = 1, .observer = log});
  const int value = erp.call([&] {
    store_.fail_next(1, StoreError::Kind::busy);
    return 7;
  });
  EXPECT_EQ(value, 7);
  EXPECT_THAT(log->kinds,
              ::testing::ElementsAre(Event::Kind::granted, Event::Kind::release_failed));
}

TEST_P(BulkheadTest, TheLeaseIsRenewedWhileTheCallableRuns) {
  const Bulkhead erp(store_, "erp", {.limit = 1, .ttl = 10s});
  erp.call([&](Lease& lease) {
    pass(60s);
    EXPECT_TRUE(lease.valid());
  });
}

TEST_P(BulkheadTest, CountsWhatIsFree) {
  const Bulkhead erp(store_, "erp", {.limit = 3});
  EXPECT_EQ(erp.available_slots(), 3U);
  const Lease lease = erp.acquire({.weight = 2});
  EXPECT_EQ(erp.available_slots(), 1U);
}

TEST_P(BulkheadTest, NothingIsFreeWhereAnOperatorSaysSo) {
  const Bulkhead erp(store_, "erp", {.limit = 3});
  store_.set_limit("erp", 0);
  EXPECT_EQ(erp.available_slots(), 0U);
  EXPECT_FALSE(erp.try_acquire());
  store_.set_limit("erp", 5);
  EXPECT_EQ(erp.available_slots(), 5U);
  store_.set_limit("erp", std::nullopt);
  EXPECT_EQ(erp.available_slots(), 3U);
}

TEST_P(BulkheadTest, WhatIsFreeIsNeverBelowNone) {
  const Bulkhead erp(store_, "erp", {.limit = 3});
  const Lease lease = erp.acquire({.weight = 3});
  store_.set_limit("erp", 1);
  EXPECT_EQ(erp.available_slots(), 0U);
}

TEST_P(BulkheadTest, NeedsALimit) {
  EXPECT_THROW(Bulkhead(store_, "erp", {}), InvalidArgument);
  EXPECT_THROW(Bulkhead(store_, "bad name", {.limit = 1}), InvalidArgument);
}

TEST_P(BulkheadTest, KeysAreIndependentAndMayBeAnyBytes) {
  const KeyedBulkhead tenants(store_, "vendor", {.limit = 1});
  const Lease first = tenants.acquire("acme");
  const Lease second = tenants.acquire(std::string_view("\0\xff {}", 5));
  EXPECT_FALSE(tenants.try_acquire("acme"));
  EXPECT_EQ(tenants.available_slots("acme"), 0U);
  const std::vector<std::string_view> keys = {"none", "acme", "none"};
  EXPECT_THAT(tenants.available_slots(keys), ::testing::ElementsAre(1, 0, 1));
  EXPECT_EQ(tenants.call("other", [] { return 5; }), 5);
  EXPECT_FALSE(tenants.try_call("acme", {}, [] { return 5; }));
}

TEST_P(BulkheadTest, RatesStandBesideTheLimit) {
  const Bulkhead api(store_, "api", {.limit = 9, .rates = {{.count = 1, .period = 1min}}});
  api.call([] {});
  const auto refused = api.try_call([] { return 1; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::rate);
  EXPECT_EQ(refused.error().retry_after, 1min);
}

AIRLOCK_WAITING_SUITE(BulkheadTest);

}  // namespace
}  // namespace airlock
