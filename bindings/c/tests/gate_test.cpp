#include <array>
#include <set>

#include "support.hpp"

namespace airlock::c_test {
namespace {

using CGate = StoreTest;
INSTANTIATE_TEST_SUITE_P(Stores, CGate, testing::ValuesIn(stores()), name_of);

TEST_P(CGate, ItAdmitsUpToItsLimitAndSaysSo) {
  const Gate erp = gate("erp", limit_of(1));
  Lease lease;
  Answer answer;
  ASSERT_EQ(airlock_enter(erp.get(), nullptr, 0, Into(lease), &answer, nullptr), AIRLOCK_DONE);
  EXPECT_GT(answer.fence, 0U);
  EXPECT_EQ(answer.slot, 0);
  EXPECT_GT(answer.expires_in, 20 * AIRLOCK_SECOND);  // The default ttl: 30 s.
  EXPECT_LT(answer.expires_in, 30 * AIRLOCK_SECOND);
  EXPECT_EQ(answer.token[0], '\0');

  Lease none;
  EXPECT_EQ(airlock_enter(erp.get(), nullptr, 0, Into(none), &answer, nullptr), AIRLOCK_REFUSED);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_FULL);
  EXPECT_GT(answer.retry_after, 0);
  EXPECT_EQ(answer.fence, 0U);  // Nothing of the answer before.

  EXPECT_EQ(
      airlock_enter(erp.get(), nullptr, 20 * AIRLOCK_MILLISECOND, Into(none), &answer, nullptr),
      AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_LATE);
  EXPECT_GE(answer.waited, 20 * AIRLOCK_MILLISECOND);
}

TEST_P(CGate, AWaiterGetsInWhenTheHolderIsFreed) {
  const Gate erp = gate("erp", limit_of(1));
  Lease first = enter(erp);
  std::thread holder([&] {
    EXPECT_TRUE(is_waiting("erp"));
    first.reset();
  });
  Lease second;
  Answer answer;
  EXPECT_EQ(airlock_enter(erp.get(), nullptr, kSoon, Into(second), &answer, nullptr), AIRLOCK_DONE);
  EXPECT_GT(answer.waited, 0);
  holder.join();
  EXPECT_EQ(airlock_lease_valid(second.get()), 1);
}

TEST_P(CGate, AnInterruptibleEntryWithoutSignalsIsAnEntry) {
  const Gate erp = gate("erp", limit_of(1));
  auto ask = sized<airlock_ask>();
  ask.interruptible = 1;
  Lease first;
  ASSERT_EQ(airlock_enter(erp.get(), &ask, 0, Into(first), nullptr, nullptr), AIRLOCK_DONE);
  Lease second;
  Answer answer;
  EXPECT_EQ(
      airlock_enter(erp.get(), &ask, 20 * AIRLOCK_MILLISECOND, Into(second), &answer, nullptr),
      AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_LATE);
  std::thread holder([&] {
    EXPECT_TRUE(is_waiting("erp"));
    first.reset();
  });
  EXPECT_EQ(airlock_enter(erp.get(), &ask, kSoon, Into(second), &answer, nullptr), AIRLOCK_DONE);
  holder.join();
}

TEST_P(CGate, AnAskSaysHowMuchItTakesAndWho) {
  const Gate erp = gate("erp", limit_of(4));
  auto ask = sized<airlock_ask>();
  ask.weight = 3;
  ask.label = text("import job");
  Lease lease;
  ASSERT_EQ(airlock_enter(erp.get(), &ask, 0, Into(lease), nullptr, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(counts("erp").in_use, 3U);
  View view;
  ASSERT_EQ(airlock_look(store(), text(own("erp")), Into(view), nullptr), AIRLOCK_DONE);
  auto holder = sized<airlock_holder>();
  ASSERT_EQ(airlock_view_holder(view.get(), 0, &holder, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(string_of(holder.label), "import job");
  EXPECT_EQ(holder.weight, 3U);
  EXPECT_EQ(holder.fence, airlock_lease_fence(lease.get()));

  ask.weight = 5;
  Error error;
  EXPECT_EQ(airlock_enter(erp.get(), &ask, 0, Into(lease), nullptr, &error), AIRLOCK_INVALID);
}

TEST_P(CGate, RatesGuardAGateWithOrWithoutALimit) {
  const airlock_rate rate{.count = 2,
                          .burst = 0,
                          .period = 3600 * AIRLOCK_SECOND,
                          .algorithm = AIRLOCK_GCRA,
                          .reserved = 0};
  auto options = limit_of(0);
  options.rates = &rate;
  options.rate_count = 1;
  const Gate api = gate("api", options);
  auto ask = sized<airlock_ask>();
  ask.cost = 2;
  Lease lease;
  EXPECT_EQ(airlock_enter(api.get(), &ask, 0, Into(lease), nullptr, nullptr), AIRLOCK_DONE);
  char token[AIRLOCK_TOKEN_SIZE];
  EXPECT_EQ(airlock_lease_token(lease.get(), token, nullptr), AIRLOCK_NOTHING);
  Answer answer;
  EXPECT_EQ(airlock_enter(api.get(), nullptr, 0, Into(lease), &answer, nullptr), AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_RATE);
  EXPECT_EQ(answer.rate.limit, 2U);
  EXPECT_GT(answer.retry_after, 0);
  ask.cost = 3;
  EXPECT_EQ(airlock_enter(api.get(), &ask, 0, Into(lease), &answer, nullptr), AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_NEVER);
  EXPECT_EQ(answer.retry_after, AIRLOCK_FOREVER);
}

TEST_P(CGate, EveryOptionArrives) {
  auto options = limit_of(2);
  options.ttl = 20 * AIRLOCK_SECOND;
  options.max_hold = 5 * AIRLOCK_SECOND;
  options.order = AIRLOCK_PRIORITY;
  options.exclusive = 1;
  options.barging = 1;
  options.max_waiting = 1;
  options.refuse_late = 1;
  options.patience = 5 * AIRLOCK_SECOND;
  options.claim_window = AIRLOCK_SECOND;
  options.aging_base = 2;
  options.aging_per_second = 3;
  options.aging_max = 4;
  const Gate lock = gate("lock", options);
  auto ask = sized<airlock_ask>();
  ask.weight = 2;
  Lease writer;
  Answer answer;
  ASSERT_EQ(airlock_enter(lock.get(), &ask, 0, Into(writer), &answer, nullptr), AIRLOCK_DONE);
  EXPECT_LT(answer.expires_in, 5 * AIRLOCK_SECOND + 1);  // max_hold
  EXPECT_EQ(counts("lock").in_use, 1U);                  // exclusive
  EXPECT_EQ(counts("lock").exclusive, 1U);

  const Mailbox mailbox = new_mailbox();
  ask.priority = 7;
  ASSERT_EQ(airlock_enter_async(lock.get(), &ask, kSoon, mailbox.get(), 1, nullptr), AIRLOCK_DONE);
  ASSERT_TRUE(is_waiting("lock"));
  Lease none;
  EXPECT_EQ(airlock_enter(lock.get(), nullptr, AIRLOCK_SECOND, Into(none), &answer, nullptr),
            AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_LINE_FULL);
  View view;
  ASSERT_EQ(airlock_look(store(), text(own("lock")), Into(view), nullptr), AIRLOCK_DONE);
  auto summary = sized<airlock_summary>();
  ASSERT_EQ(airlock_view_summary(view.get(), &summary, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(summary.order, AIRLOCK_PRIORITY);
  auto waiter = sized<airlock_waiter>();
  ASSERT_EQ(airlock_view_waiter(view.get(), 0, &waiter, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(waiter.priority, 7U);
  EXPECT_EQ(waiter.weight, 2U);
  EXPECT_EQ(airlock_view_waiter(view.get(), 1, &waiter, nullptr), AIRLOCK_NOTHING);
}

// --- Visitors ---

TEST_P(CGate, AVisitorComesWaitsAndLeaves) {
  const Gate room = gate("room", limit_of(1));
  airlock_visitor alice{};
  airlock_visitor bob{};
  ASSERT_EQ(airlock_visitor_named(text("alice"), &alice, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_visitor_named(text("bob"), &bob, nullptr), AIRLOCK_DONE);

  Answer in;
  ASSERT_EQ(airlock_visitor_admit(room.get(), alice, nullptr, &in, nullptr), AIRLOCK_DONE);
  EXPECT_NE(in.token[0], '\0');
  EXPECT_EQ(in.repeated, 0U);
  Answer again;
  ASSERT_EQ(airlock_visitor_admit(room.get(), alice, nullptr, &again, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(again.repeated, 1U);
  EXPECT_STREQ(again.token, in.token);

  Answer waits;
  ASSERT_EQ(airlock_visitor_admit(room.get(), bob, nullptr, &waits, nullptr), AIRLOCK_QUEUED);
  EXPECT_EQ(waits.position, 1U);
  EXPECT_EQ(waits.waiting, 1U);
  EXPECT_GT(waits.next_check, 0);
  EXPECT_EQ(waits.token[0], '\0');
  EXPECT_EQ(airlock_visitor_claim(room.get(), bob, &waits, nullptr), AIRLOCK_QUEUED);

  EXPECT_EQ(airlock_token_release(store(), text(in.token), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_token_release(store(), text(in.token), nullptr), AIRLOCK_GONE);
  ASSERT_EQ(airlock_visitor_claim(room.get(), bob, &waits, nullptr), AIRLOCK_DONE);
  EXPECT_NE(waits.token[0], '\0');
  EXPECT_EQ(airlock_visitor_claim(room.get(), alice, &again, nullptr), AIRLOCK_NOTHING);
  EXPECT_EQ(airlock_visitor_leave(room.get(), alice, nullptr), AIRLOCK_NOTHING);
  EXPECT_EQ(airlock_visitor_admit(room.get(), alice, nullptr, &again, nullptr), AIRLOCK_QUEUED);
  EXPECT_EQ(airlock_visitor_mark_absent(room.get(), alice, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_visitor_leave(room.get(), alice, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_visitor_mark_absent(room.get(), alice, nullptr), AIRLOCK_NOTHING);

  ASSERT_EQ(airlock_pause(store(), text(own("room")), kSoon, text(""), nullptr), AIRLOCK_DONE);
  auto options = limit_of(1);
  options.max_waiting = 1;
  const Gate small = gate("small", options);
  Answer refused;
  ASSERT_EQ(airlock_visitor_admit(small.get(), alice, nullptr, &refused, nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_visitor_admit(small.get(), bob, nullptr, &refused, nullptr), AIRLOCK_QUEUED);
  ASSERT_EQ(airlock_visitor_admit(small.get(), {1, 2}, nullptr, &refused, nullptr),
            AIRLOCK_REFUSED);
  EXPECT_EQ(refused.reason, AIRLOCK_REASON_LINE_FULL);
}

// --- Keys ---

TEST_P(CGate, EachKeyHasItsOwnLimit) {
  Keyed tenants;
  Error error;
  const auto options = limit_of(1);
  ASSERT_EQ(airlock_keyed_open(store(), text(own("tenant")), &options, Into(tenants), &error),
            AIRLOCK_DONE)
      << error.text;
  Lease a;
  Lease b;
  Lease none;
  Answer answer;
  const std::string_view odd("\0 any", 5);
  EXPECT_EQ(airlock_keyed_enter(tenants.get(), text(odd), nullptr, 0, Into(a), &answer, nullptr),
            AIRLOCK_DONE);
  EXPECT_GT(answer.fence, 0U);
  EXPECT_EQ(airlock_keyed_enter(tenants.get(), text("b"), nullptr, 0, Into(b), nullptr, nullptr),
            AIRLOCK_DONE);
  EXPECT_EQ(airlock_keyed_enter(tenants.get(), text(odd), nullptr, 10 * AIRLOCK_MILLISECOND,
                                Into(none), &answer, nullptr),
            AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_LATE);
}

TEST_P(CGate, IsolationLetsOneIn) {
  Isolation isolation;
  ASSERT_EQ(airlock_isolation_open(store(), 0, 0, Into(isolation), nullptr), AIRLOCK_DONE);
  const std::string key = own("chat:42");
  Lease first;
  Lease none;
  Answer answer;
  ASSERT_EQ(airlock_isolation_lock(isolation.get(), text(key), 0, Into(first), &answer, nullptr),
            AIRLOCK_DONE);
  EXPECT_GT(answer.expires_in, 50 * AIRLOCK_SECOND);  // The default ttl: 60 s.
  EXPECT_EQ(airlock_isolation_lock(isolation.get(), text(key), 10 * AIRLOCK_MILLISECOND, Into(none),
                                   &answer, nullptr),
            AIRLOCK_REFUSED);
  first.reset();
  EXPECT_EQ(airlock_isolation_lock(isolation.get(), text(key), kSoon, Into(none), &answer, nullptr),
            AIRLOCK_DONE);
}

// --- The order of freeing, the end ---

TEST_P(CGate, AnObjectKeepsAliveWhatItNeeds) {
  Gate erp = gate("erp", limit_of(1));
  Lease lease = enter(erp);
  Seal seal;
  ASSERT_EQ(airlock_seal_lock(store(), text(own("lock")), 0, Into(seal), nullptr), AIRLOCK_DONE);
  erp.reset();
  EXPECT_EQ(airlock_lease_valid(lease.get()), 1);
  EXPECT_EQ(airlock_lease_release(lease.get(), nullptr), AIRLOCK_DONE);
  Answer answer;
  EXPECT_EQ(airlock_seal_try(seal.get(), nullptr, &answer, nullptr), AIRLOCK_DONE);
}

TEST_P(CGate, AClosedStoreLetsNobodyInAndIsDrained) {
  const Gate erp = gate("erp", limit_of(1));
  Lease lease = enter(erp);
  EXPECT_EQ(airlock_store_drain(store(), 0, nullptr), AIRLOCK_NOTHING);
  const Mailbox mailbox = new_mailbox();
  ASSERT_EQ(airlock_enter_async(erp.get(), nullptr, kSoon, mailbox.get(), 5, nullptr),
            AIRLOCK_DONE);
  ASSERT_TRUE(is_waiting("erp"));
  EXPECT_EQ(airlock_store_close(store(), nullptr), AIRLOCK_DONE);

  const Event failed = next_event(mailbox.get());
  EXPECT_EQ(failed.kind, AIRLOCK_EVENT_FAILED);
  EXPECT_EQ(failed.tag, 5U);
  EXPECT_EQ(failed.error.kind, AIRLOCK_KIND_CLOSED);
  EXPECT_EQ(failed.error.status, AIRLOCK_FAILED);

  Lease none;
  Error error;
  EXPECT_EQ(airlock_enter(erp.get(), nullptr, 0, Into(none), nullptr, &error), AIRLOCK_FAILED);
  EXPECT_EQ(error.kind, AIRLOCK_KIND_CLOSED);
  EXPECT_EQ(error.outcome, AIRLOCK_NOTHING_HAPPENED);
  EXPECT_NE(error.text[0], '\0');

  EXPECT_EQ(airlock_lease_release(lease.get(), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_store_drain(store(), kSoon, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_store_flush(store(), kSoon, nullptr), AIRLOCK_DONE);
}

// --- A store that cannot be reached ---

TEST(COutage, APolicyDecidesWhoGetsIn) {
  Store store;
  ASSERT_EQ(airlock_store_open(text("redis+unix:///nonexistent/redis.sock"), Into(store), nullptr),
            AIRLOCK_DONE);
  auto options = limit_of(1);
  Gate gate;
  Lease lease;
  Error error;
  ASSERT_EQ(airlock_gate_open(store.get(), text("g"), &options, Into(gate), &error), AIRLOCK_DONE);
  EXPECT_EQ(airlock_enter(gate.get(), nullptr, 0, Into(lease), nullptr, &error), AIRLOCK_FAILED);
  EXPECT_EQ(error.kind, AIRLOCK_KIND_UNAVAILABLE);
  EXPECT_EQ(error.status, AIRLOCK_FAILED);

  options.outage = AIRLOCK_OUTAGE_LOCAL;
  options.local_limit = 2;
  ASSERT_EQ(airlock_gate_open(store.get(), text("g"), &options, Into(gate), &error), AIRLOCK_DONE);
  Lease leases[3];
  EXPECT_EQ(airlock_enter(gate.get(), nullptr, 0, Into(leases[0]), nullptr, &error), AIRLOCK_DONE);
  EXPECT_EQ(airlock_enter(gate.get(), nullptr, 0, Into(leases[1]), nullptr, &error), AIRLOCK_DONE);
  EXPECT_EQ(airlock_enter(gate.get(), nullptr, 0, Into(leases[2]), nullptr, &error),
            AIRLOCK_REFUSED);
  EXPECT_EQ(airlock_lease_guarded(leases[0].get()), 0);
  EXPECT_EQ(airlock_lease_valid(leases[0].get()), 1);
  EXPECT_EQ(airlock_lease_fence(leases[0].get()), 0U);
  char token[AIRLOCK_TOKEN_SIZE];
  EXPECT_EQ(airlock_lease_token(leases[0].get(), token, &error), AIRLOCK_NOTHING);
  EXPECT_EQ(airlock_lease_detach(leases[0].get(), token, &error), AIRLOCK_GONE);

  options.outage = AIRLOCK_OUTAGE_OPEN;
  options.local_limit = 0;
  ASSERT_EQ(airlock_gate_open(store.get(), text("g"), &options, Into(gate), &error), AIRLOCK_DONE);
  EXPECT_EQ(airlock_enter(gate.get(), nullptr, 0, Into(lease), nullptr, &error), AIRLOCK_DONE);
  EXPECT_EQ(airlock_lease_guarded(lease.get()), 0);
}

TEST(COutage, AWaitFailsByAnEventAndASealByItsStatus) {
  Store store;
  ASSERT_EQ(airlock_store_open(text("redis+unix:///nonexistent/redis.sock"), Into(store), nullptr),
            AIRLOCK_DONE);
  const auto options = limit_of(1);
  Gate gate;
  Error error;
  ASSERT_EQ(airlock_gate_open(store.get(), text("g"), &options, Into(gate), &error), AIRLOCK_DONE);
  const Mailbox mailbox = new_mailbox();
  ASSERT_EQ(airlock_enter_async(gate.get(), nullptr, kSoon, mailbox.get(), 9, &error),
            AIRLOCK_DONE);
  const Event event = next_event(mailbox.get());
  EXPECT_EQ(event.kind, AIRLOCK_EVENT_FAILED);
  EXPECT_EQ(event.tag, 9U);
  EXPECT_EQ(event.lease, nullptr);
  EXPECT_EQ(event.error.kind, AIRLOCK_KIND_UNAVAILABLE);

  Seal seal;
  ASSERT_EQ(airlock_seal_lock(store.get(), text("l"), 0, Into(seal), &error), AIRLOCK_DONE);
  Answer answer;
  EXPECT_EQ(airlock_seal_try(seal.get(), nullptr, &answer, &error), AIRLOCK_FAILED);
  EXPECT_EQ(error.kind, AIRLOCK_KIND_UNAVAILABLE);
}

}  // namespace
}  // namespace airlock::c_test
