#include <cstddef>
#include <cstring>

#include "support.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define AIRLOCK_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AIRLOCK_SANITIZED
#endif

namespace airlock::c_test {
namespace {

// Over a store of memory, with one of each handle.
class CMisuse : public testing::Test {
 protected:
  CMisuse() {
    EXPECT_EQ(airlock_store_open(text("memory:"), Into(store_), nullptr), AIRLOCK_DONE);
    EXPECT_EQ(airlock_gate_open(store(), text("gate"), &options_, Into(gate_), nullptr),
              AIRLOCK_DONE);
    EXPECT_EQ(airlock_keyed_open(store(), text("keyed"), &options_, Into(keyed_), nullptr),
              AIRLOCK_DONE);
    EXPECT_EQ(airlock_isolation_open(store(), 0, 0, Into(isolation_), nullptr), AIRLOCK_DONE);
    EXPECT_EQ(airlock_enter(gate_.get(), nullptr, 0, Into(lease_), nullptr, nullptr), AIRLOCK_DONE);
    EXPECT_EQ(airlock_seal_lock(store(), text("lock"), 0, Into(seal_), nullptr), AIRLOCK_DONE);
    EXPECT_EQ(airlock_seal_rates(store(), text("rates"), &rate_, 1, 0, Into(rates_), nullptr),
              AIRLOCK_DONE);
    EXPECT_EQ(airlock_mailbox_open(Into(mailbox_), nullptr), AIRLOCK_DONE);
    EXPECT_EQ(airlock_look(store(), text("gate"), Into(view_), nullptr), AIRLOCK_DONE);
    EXPECT_EQ(airlock_lease_token(lease_.get(), token_, nullptr), AIRLOCK_DONE);
  }

  // The misuse is over when the counts are as before.
  ~CMisuse() override {
    auto counts = sized<airlock_counts>();
    EXPECT_EQ(airlock_count(store(), text("gate"), &counts, nullptr), AIRLOCK_DONE);
    EXPECT_EQ(counts.in_use, 1U);
    EXPECT_EQ(counts.waiting, 0U);
    EXPECT_FALSE(has_event(mailbox_.get()));
  }

  [[nodiscard]] airlock_store* store() const { return store_.get(); }

  // Expects INVALID, and a text that names what is wrong.
  void expect_invalid(std::int32_t status, std::string_view named) {
    EXPECT_EQ(status, AIRLOCK_INVALID) << named;
    EXPECT_EQ(error_.status, AIRLOCK_INVALID) << named;
    EXPECT_NE(std::string_view(error_.text).find(named), std::string_view::npos)
        << error_.text << " / " << named;
    error_ = Error();
  }

  airlock_rate rate_{
      .count = 1, .burst = 0, .period = AIRLOCK_SECOND, .algorithm = AIRLOCK_GCRA, .reserved = 0};
  airlock_gate_options options_ = limit_of(2);
  Store store_;
  Gate gate_;
  Keyed keyed_;
  Isolation isolation_;
  Lease lease_;
  Seal seal_;
  Seal rates_;
  Mailbox mailbox_;
  View view_;
  char token_[AIRLOCK_TOKEN_SIZE];
  Error error_;
  Lease no_lease_;
  Answer answer_;
};

TEST_F(CMisuse, AHandleThatIsNullIsNamed) {
  Error& e = error_;
  const airlock_text t = text("x");
  auto counts = sized<airlock_counts>();
  List list;
  View view;
  Seal seal;
  Gate gate;
  std::size_t size = 0;
  expect_invalid(airlock_store_close(nullptr, &e), "store");
  expect_invalid(airlock_store_drain(nullptr, 0, &e), "store");
  expect_invalid(airlock_store_flush(nullptr, 0, &e), "store");
  expect_invalid(airlock_gate_open(nullptr, t, &options_, Into(gate), &e), "store");
  expect_invalid(airlock_enter(nullptr, nullptr, 0, Into(no_lease_), nullptr, &e), "gate");
  expect_invalid(airlock_visitor_admit(nullptr, {}, nullptr, &answer_, &e), "gate");
  expect_invalid(airlock_visitor_claim(nullptr, {}, &answer_, &e), "gate");
  expect_invalid(airlock_visitor_leave(nullptr, {}, &e), "gate");
  expect_invalid(airlock_visitor_mark_absent(nullptr, {}, &e), "gate");
  expect_invalid(airlock_keyed_enter(nullptr, t, nullptr, 0, Into(no_lease_), nullptr, &e),
                 "keyed");
  expect_invalid(airlock_isolation_lock(nullptr, t, 0, Into(no_lease_), nullptr, &e), "isolation");
  expect_invalid(airlock_lease_release(nullptr, &e), "lease");
  expect_invalid(airlock_lease_token(nullptr, token_, &e), "lease");
  expect_invalid(airlock_lease_detach(nullptr, token_, &e), "lease");
  expect_invalid(airlock_lease_adopt(nullptr, t, 0, Into(no_lease_), &e), "store");
  expect_invalid(airlock_lease_watch(nullptr, mailbox_.get(), 0, &e), "lease");
  expect_invalid(airlock_lease_watch(lease_.get(), nullptr, 0, &e), "mailbox");
  expect_invalid(airlock_token_renew(nullptr, t, 1, &e), "store");
  expect_invalid(airlock_token_release(nullptr, t, &e), "store");
  expect_invalid(airlock_token_holds(nullptr, t, &e), "store");
  expect_invalid(airlock_seal_lock(nullptr, t, 0, Into(seal), &e), "store");
  expect_invalid(airlock_seal_semaphore(nullptr, t, 1, 1, 0, Into(seal), &e), "store");
  expect_invalid(airlock_seal_cooldown(nullptr, t, 1, Into(seal), &e), "store");
  expect_invalid(airlock_seal_rates(nullptr, t, &rate_, 1, 0, Into(seal), &e), "store");
  expect_invalid(airlock_seal_composite(nullptr, rates_.get(), Into(seal), &e), "lock");
  expect_invalid(airlock_seal_composite(seal_.get(), nullptr, Into(seal), &e), "other");
  expect_invalid(airlock_seal_try(nullptr, nullptr, &answer_, &e), "seal");
  expect_invalid(airlock_seal_release(nullptr, t, &e), "seal");
  expect_invalid(airlock_seal_renew(nullptr, t, 0, &answer_, &e), "seal");
  expect_invalid(airlock_seal_holds(nullptr, t, &e), "seal");
  expect_invalid(airlock_seal_take(nullptr, 0, 1, 0, &answer_, &e), "rates");
  expect_invalid(airlock_enter_async(nullptr, nullptr, 0, mailbox_.get(), 0, &e), "gate");
  expect_invalid(airlock_enter_async(gate_.get(), nullptr, 0, nullptr, 0, &e), "mailbox");
  expect_invalid(
      airlock_enter_begin(nullptr, nullptr, 0, mailbox_.get(), 0, Into(no_lease_), nullptr, &e),
      "gate");
  expect_invalid(
      airlock_enter_begin(gate_.get(), nullptr, 0, nullptr, 0, Into(no_lease_), nullptr, &e),
      "mailbox");
  expect_invalid(airlock_mailbox_cancel(nullptr, 0, &e), "mailbox");
  Event event;
  expect_invalid(airlock_mailbox_next(nullptr, &event, nullptr, &e), "mailbox");
  expect_invalid(airlock_gates(nullptr, Into(list), &e), "store");
  expect_invalid(airlock_metrics(nullptr, Into(list), &e), "store");
  expect_invalid(airlock_doctor(nullptr, Into(list), &e), "store");
  expect_invalid(airlock_count(nullptr, t, &counts, &e), "store");
  expect_invalid(airlock_look(nullptr, t, Into(view), &e), "store");
  expect_invalid(airlock_limit_set(nullptr, t, 1, &e), "store");
  expect_invalid(airlock_limit_clear(nullptr, t, &e), "store");
  expect_invalid(airlock_pause(nullptr, t, 1, text(""), &e), "store");
  expect_invalid(airlock_resume(nullptr, t, text(""), &e), "store");
  expect_invalid(airlock_revoke(nullptr, t, nullptr, 0, &size, &e), "store");
  expect_invalid(airlock_purge(nullptr, t, &e), "store");
  EXPECT_EQ(airlock_mailbox_fd(nullptr), -1);
  EXPECT_EQ(airlock_list_size(nullptr), 0U);
  EXPECT_EQ(airlock_list_at(nullptr, 0).data, nullptr);
  EXPECT_EQ(airlock_seal_is_locking(nullptr), 0);
  EXPECT_EQ(airlock_seal_is_atomic(nullptr), 0);
  EXPECT_EQ(airlock_seal_remaining(nullptr, 1), 0);
}

TEST_F(CMisuse, AResultThatCannotBeWrittenIsNamed) {
  Error& e = error_;
  const airlock_text t = text("x");
  std::size_t size = 0;
  airlock_rate_info info{};
  airlock_text reporter{};
  auto key = sized<airlock_storage_key>();
  expect_invalid(airlock_store_open(text("memory:"), nullptr, &e), "store");
  expect_invalid(airlock_duration_parse(text("1s"), nullptr, &e), "duration");
  expect_invalid(airlock_rate_parse(text("1/s"), nullptr, &e), "rate");
  expect_invalid(airlock_visitor_random(nullptr, &e), "visitor");
  expect_invalid(airlock_visitor_named(t, nullptr, &e), "visitor");
  expect_invalid(airlock_gate_name(t, t, nullptr, &e), "name");
  expect_invalid(airlock_storage_key_text(nullptr, nullptr, 0, &size, &e), "key");
  expect_invalid(airlock_storage_key_text(&key, nullptr, 1, &size, &e), "text");
  expect_invalid(airlock_storage_key_text(&key, nullptr, 0, nullptr, &e), "needed");
  expect_invalid(airlock_gate_open(store(), t, &options_, nullptr, &e), "gate");
  expect_invalid(airlock_enter(gate_.get(), nullptr, 0, nullptr, nullptr, &e), "lease");
  expect_invalid(
      airlock_enter_begin(gate_.get(), nullptr, 0, mailbox_.get(), 0, nullptr, nullptr, &e),
      "lease");
  expect_invalid(airlock_visitor_admit(gate_.get(), {}, nullptr, nullptr, &e), "answer");
  expect_invalid(airlock_visitor_claim(gate_.get(), {}, nullptr, &e), "answer");
  expect_invalid(airlock_keyed_open(store(), t, &options_, nullptr, &e), "keyed");
  expect_invalid(airlock_keyed_enter(keyed_.get(), t, nullptr, 0, nullptr, nullptr, &e), "lease");
  expect_invalid(airlock_isolation_open(store(), 0, 0, nullptr, &e), "isolation");
  expect_invalid(airlock_isolation_lock(isolation_.get(), t, 0, nullptr, nullptr, &e), "lease");
  expect_invalid(airlock_lease_token(lease_.get(), nullptr, &e), "token");
  expect_invalid(airlock_lease_detach(lease_.get(), nullptr, &e), "token");
  expect_invalid(airlock_lease_adopt(store(), text(token_), 0, nullptr, &e), "lease");
  expect_invalid(airlock_token_parse(text(token_), nullptr, &e), "parts");
  expect_invalid(airlock_seal_lock(store(), t, 0, nullptr, &e), "seal");
  expect_invalid(airlock_seal_semaphore(store(), t, 1, 1, 0, nullptr, &e), "seal");
  expect_invalid(airlock_seal_cooldown(store(), t, 1, nullptr, &e), "seal");
  expect_invalid(airlock_seal_rates(store(), t, &rate_, 1, 0, nullptr, &e), "seal");
  expect_invalid(airlock_seal_composite(seal_.get(), rates_.get(), nullptr, &e), "seal");
  expect_invalid(airlock_seal_try(seal_.get(), nullptr, nullptr, &e), "answer");
  expect_invalid(airlock_seal_renew(seal_.get(), t, 0, nullptr, &e), "answer");
  expect_invalid(airlock_seal_take(rates_.get(), 0, 1, 0, nullptr, &e), "answer");
  expect_invalid(airlock_mailbox_open(nullptr, &e), "mailbox");
  expect_invalid(airlock_mailbox_next(mailbox_.get(), nullptr, nullptr, &e), "event");
  expect_invalid(airlock_gates(store(), nullptr, &e), "names");
  expect_invalid(airlock_metrics(store(), nullptr, &e), "text");
  expect_invalid(airlock_doctor(store(), nullptr, &e), "findings");
  expect_invalid(airlock_count(store(), t, nullptr, &e), "counts");
  expect_invalid(airlock_look(store(), t, nullptr, &e), "view");
  expect_invalid(airlock_view_summary(view_.get(), nullptr, &e), "summary");
  expect_invalid(airlock_view_holder(view_.get(), 0, nullptr, &e), "holder");
  expect_invalid(airlock_view_waiter(view_.get(), 0, nullptr, &e), "waiter");
  expect_invalid(airlock_view_rate(view_.get(), 0, nullptr, &info, &e), "rate");
  expect_invalid(airlock_view_rate(view_.get(), 0, &rate_, nullptr, &e), "info");
  std::int64_t remaining = 0;
  expect_invalid(airlock_view_pause(view_.get(), 0, nullptr, &remaining, &e), "reporter");
  expect_invalid(airlock_view_pause(view_.get(), 0, &reporter, nullptr, &e), "remaining");
}

TEST_F(CMisuse, AViewThatIsNullIsNamed) {
  Error& e = error_;
  auto summary = sized<airlock_summary>();
  auto holder = sized<airlock_holder>();
  auto waiter = sized<airlock_waiter>();
  airlock_rate_info info{};
  airlock_text reporter{};
  std::int64_t remaining = 0;
  expect_invalid(airlock_view_summary(nullptr, &summary, &e), "view");
  expect_invalid(airlock_view_holder(nullptr, 0, &holder, &e), "view");
  expect_invalid(airlock_view_waiter(nullptr, 0, &waiter, &e), "view");
  expect_invalid(airlock_view_rate(nullptr, 0, &rate_, &info, &e), "view");
  expect_invalid(airlock_view_pause(nullptr, 0, &reporter, &remaining, &e), "view");
}

TEST_F(CMisuse, FreeingNullDoesNothing) {
  airlock_store_free(nullptr);
  airlock_gate_free(nullptr);
  airlock_keyed_free(nullptr);
  airlock_isolation_free(nullptr);
  airlock_lease_free(nullptr);
  airlock_seal_free(nullptr);
  airlock_mailbox_free(nullptr);
  airlock_list_free(nullptr);
  airlock_view_free(nullptr);
}

TEST_F(CMisuse, ATextThatIsNullHasNoSize) {
  Error& e = error_;
  const airlock_text null{nullptr, 5};
  Store store;
  Gate gate;
  expect_invalid(airlock_store_open(null, Into(store), &e), "uri");
  expect_invalid(airlock_gate_open(this->store(), null, &options_, Into(gate), &e), "name");
  expect_invalid(airlock_keyed_enter(keyed_.get(), null, nullptr, 0, Into(no_lease_), nullptr, &e),
                 "key");
  expect_invalid(airlock_token_release(this->store(), null, &e), "token");
  expect_invalid(airlock_pause(this->store(), text("gate"), 1, null, &e), "reporter");
  auto ask = sized<airlock_ask>();
  ask.label = null;
  expect_invalid(airlock_enter(gate_.get(), &ask, 0, Into(no_lease_), nullptr, &e), "ask.label");
  ask.label = {"x", static_cast<std::size_t>(-1)};
  expect_invalid(airlock_enter(gate_.get(), &ask, 0, Into(no_lease_), nullptr, &e), "ask.label");
  airlock_visitor visitor{};
  EXPECT_EQ(airlock_visitor_named({nullptr, 0}, &visitor, &e), AIRLOCK_DONE);
}

// --- Sizes ---

TEST_F(CMisuse, ASizeThatWasNotSetIsInvalid) {
  Error& e = error_;
  Gate gate;
  Event event;
  auto ask = sized<airlock_ask>();
  auto counts = sized<airlock_counts>();
  for (const std::uint32_t size : {0U, 3U, 4U, 7U, 13U, 5000U, ~0U}) {
    options_.size = size;
    expect_invalid(airlock_gate_open(store(), text("x"), &options_, Into(gate), &e),
                   "options: the field size");
    ask.size = size;
    expect_invalid(airlock_enter(gate_.get(), &ask, 0, Into(no_lease_), nullptr, &e),
                   "ask: the field size");
    answer_.size = size;
    expect_invalid(airlock_enter(gate_.get(), nullptr, 0, Into(no_lease_), &answer_, &e),
                   "answer: the field size");
    event.size = size;
    expect_invalid(airlock_mailbox_next(mailbox_.get(), &event, nullptr, &e),
                   "event: the field size");
    counts.size = size;
    expect_invalid(airlock_count(store(), text("gate"), &counts, &e), "counts: the field size");
  }
}

TEST_F(CMisuse, ASizeThatCutsAPointerIsInvalid) {
  const airlock_visitor visitor{1, 2};
  auto ask = sized<airlock_seal_ask>();
  ask.visitor = &visitor;
  ask.size = offsetof(airlock_seal_ask, visitor) + 4;
  expect_invalid(airlock_seal_try(seal_.get(), &ask, &answer_, &error_), "ask: the field size");
}

TEST_F(CMisuse, AnErrorWithoutASizeIsInvalidAndNotWritten) {
  airlock_error error;
  std::memset(&error, 0x55, sizeof error);
  std::int64_t duration = 0;
  for (const std::uint32_t size : {0U, 16U, 5000U}) {
    error.size = size;
    EXPECT_EQ(airlock_duration_parse(text("1s"), &duration, &error), AIRLOCK_INVALID);
    EXPECT_EQ(duration, 0);
    EXPECT_EQ(error.status, 0x55555555);
  }
  error.size = offsetof(airlock_error, text) + 4;  // Room for three characters.
  EXPECT_EQ(airlock_duration_parse(text("soon"), &duration, &error), AIRLOCK_INVALID);
  EXPECT_EQ(std::strlen(error.text), 3U);
  EXPECT_EQ(error.text[4], 0x55);
}

TEST_F(CMisuse, ACallerWithAnOlderHeaderIsServed) {
  options_.ttl = 5 * AIRLOCK_SECOND;
  options_.max_hold = -1;  // Beyond its size: not looked at.
  options_.size = offsetof(airlock_gate_options, max_hold);
  Gate gate;
  ASSERT_EQ(airlock_gate_open(store(), text("old"), &options_, Into(gate), &error_), AIRLOCK_DONE)
      << error_.text;
  std::memset(static_cast<airlock_answer*>(&answer_), 0x55, sizeof answer_);
  answer_.size = offsetof(airlock_answer, fence);
  Lease lease;
  ASSERT_EQ(airlock_enter(gate.get(), nullptr, 0, Into(lease), &answer_, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(answer_.size, offsetof(airlock_answer, fence));
  EXPECT_EQ(answer_.retry_after, 0);
  EXPECT_EQ(answer_.fence, 0x5555555555555555U);
  EXPECT_LT(airlock_lease_remaining(lease.get()), 5 * AIRLOCK_SECOND);
}

TEST_F(CMisuse, ACallerWithANewerHeaderIsServedUnlessItWantsWhatIsNotThere) {
  struct Newer {
    airlock_gate_options known;
    std::uint64_t added;
  };
  Newer newer{.known = limit_of(1), .added = 0};
  newer.known.size = sizeof newer;
  Gate gate;
  EXPECT_EQ(airlock_gate_open(store(), text("new"), &newer.known, Into(gate), &error_),
            AIRLOCK_DONE);
  newer.added = 1;
  expect_invalid(airlock_gate_open(store(), text("new"), &newer.known, Into(gate), &error_),
                 "options");

  struct NewerAnswer {
    airlock_answer known;
    std::uint64_t added;
  };
  NewerAnswer answer{.known = {}, .added = 7};
  answer.known.size = sizeof answer;
  Lease lease;
  ASSERT_EQ(airlock_enter(gate_.get(), nullptr, 0, Into(lease), &answer.known, nullptr),
            AIRLOCK_DONE);
  EXPECT_GT(answer.known.fence, 0U);
  EXPECT_EQ(answer.added, 7U);
}

TEST_F(CMisuse, AnEventNeedsRoomForItsLease) {
  Event event;
  event.size = offsetof(airlock_event, lease);
  expect_invalid(airlock_mailbox_next(mailbox_.get(), &event, nullptr, &error_),
                 "event: the field size");
}

// --- Values ---

TEST_F(CMisuse, AValueOutOfRangeIsNamed) {
  Error& e = error_;
  const auto expect = [&](std::string_view named,
                          const std::function<void(airlock_gate_options&)>& change) {
    airlock_gate_options options = limit_of(1);
    change(options);
    Gate gate;
    expect_invalid(airlock_gate_open(store(), text("x"), &options, Into(gate), &e), named);
    EXPECT_EQ(gate, nullptr);
  };
  expect("options.ttl", [](auto& o) { o.ttl = -1; });
  expect("options.max_hold", [](auto& o) { o.max_hold = -1; });
  expect("options.patience", [](auto& o) { o.patience = -1; });
  expect("options.claim_window", [](auto& o) { o.claim_window = -1; });
  expect("options.order", [](auto& o) { o.order = 4; });
  expect("options.order", [](auto& o) { o.order = -1; });
  expect("options.outage", [](auto& o) { o.outage = 3; });
  expect("options.exclusive", [](auto& o) { o.exclusive = 2; });
  expect("options.barging", [](auto& o) { o.barging = 2; });
  expect("options.refuse_late", [](auto& o) { o.refuse_late = 2; });
  expect("rates", [](auto& o) { o.rate_count = 1; });
  expect("rate_count", [](auto& o) { o.rate_count = static_cast<std::size_t>(-1); });
  expect("rate_count", [](auto& o) { o.rate_count = 9; });
  const auto expect_rate = [&](std::string_view named, airlock_rate rate) {
    expect(named, [&](auto& o) {
      o.rates = &rate;
      o.rate_count = 1;
    });
  };
  airlock_rate rate = rate_;
  rate.algorithm = 4;
  expect_rate("rate.algorithm", rate);
  rate = rate_;
  rate.reserved = 1;
  expect_rate("rate.reserved", rate);
  rate = rate_;
  rate.period = -1;
  expect_rate("rate.period", rate);

  options_.limit = 0;
  Gate gate;
  EXPECT_EQ(airlock_gate_open(store(), text("x"), &options_, Into(gate), &e), AIRLOCK_INVALID);
  EXPECT_EQ(airlock_gate_open(store(), text("no spaces"), &options_, Into(gate), &e),
            AIRLOCK_INVALID);
  options_ = limit_of(1);
  options_.ttl = AIRLOCK_FOREVER;
  EXPECT_EQ(airlock_gate_open(store(), text("x"), &options_, Into(gate), &e), AIRLOCK_INVALID);
  expect_invalid(airlock_gate_open(store(), text("x"), nullptr, Into(gate), &e), "options");
}

TEST_F(CMisuse, AnAskOutOfRangeIsNamed) {
  Error& e = error_;
  auto ask = sized<airlock_ask>();
  ask.priority = 4096;
  expect_invalid(airlock_enter(gate_.get(), &ask, 0, Into(no_lease_), nullptr, &e), "ask.priority");
  ask.priority = 65536;
  expect_invalid(airlock_enter(gate_.get(), &ask, 0, Into(no_lease_), nullptr, &e), "ask.priority");
  ask = sized<airlock_ask>();
  ask.interruptible = 2;
  expect_invalid(airlock_enter(gate_.get(), &ask, 0, Into(no_lease_), nullptr, &e),
                 "ask.interruptible");
  ask.interruptible = 1;
  expect_invalid(
      airlock_keyed_enter(keyed_.get(), text("k"), &ask, 0, Into(no_lease_), nullptr, &e),
      "ask.interruptible");
  expect_invalid(airlock_visitor_admit(gate_.get(), {1, 1}, &ask, &answer_, &e),
                 "ask.interruptible");
  expect_invalid(airlock_enter_async(gate_.get(), &ask, 0, mailbox_.get(), 0, &e),
                 "ask.interruptible");
}

TEST_F(CMisuse, KeyedGatesHaveFewerOptions) {
  const auto expect = [&](std::string_view named,
                          const std::function<void(airlock_gate_options&)>& change) {
    airlock_gate_options options = limit_of(1);
    change(options);
    Keyed keyed;
    expect_invalid(airlock_keyed_open(store(), text("k"), &options, Into(keyed), &error_), named);
  };
  expect("options.order", [](auto& o) { o.order = 1; });
  expect("options.exclusive", [](auto& o) { o.exclusive = 1; });
  expect("options.barging", [](auto& o) { o.barging = 1; });
  expect("options.refuse_late", [](auto& o) { o.refuse_late = 1; });
  expect("options.patience", [](auto& o) { o.patience = 1; });
  expect("options.claim_window", [](auto& o) { o.claim_window = 1; });
  expect("options.aging_base", [](auto& o) { o.aging_base = 1; });
  expect("options.aging_per_second", [](auto& o) { o.aging_per_second = 1; });
  expect("options.aging_max", [](auto& o) { o.aging_max = 1; });
}

TEST_F(CMisuse, ANegativeDurationIsNamed) {
  Error& e = error_;
  Seal seal;
  Isolation isolation;
  expect_invalid(airlock_store_drain(store(), -1, &e), "at_most");
  expect_invalid(airlock_store_flush(store(), -1, &e), "at_most");
  expect_invalid(airlock_isolation_open(store(), -1, 0, Into(isolation), &e), "ttl");
  expect_invalid(airlock_isolation_open(store(), 0, -1, Into(isolation), &e), "max_hold");
  expect_invalid(airlock_lease_adopt(store(), text(token_), -1, Into(no_lease_), &e), "ttl");
  expect_invalid(airlock_token_renew(store(), text(token_), -1, &e), "ttl");
  expect_invalid(airlock_seal_lock(store(), text("x"), -1, Into(seal), &e), "ttl");
  expect_invalid(airlock_seal_semaphore(store(), text("x"), 1, 1, -1, Into(seal), &e), "ttl");
  expect_invalid(airlock_seal_cooldown(store(), text("x"), -1, Into(seal), &e), "period");
  expect_invalid(airlock_seal_rates(store(), text("x"), &rate_, 1, -1, Into(seal), &e), "dedupe");
  expect_invalid(airlock_seal_take(rates_.get(), AIRLOCK_RESERVE, 1, -1, &answer_, &e),
                 "max_delay");
  expect_invalid(airlock_pause(store(), text("gate"), -1, text(""), &e), "duration");
}

TEST_F(CMisuse, AFlagOfAKeyIsZeroOrOne) {
  auto key = sized<airlock_storage_key>();
  std::size_t size = 0;
  key.has_thread = 2;
  expect_invalid(airlock_storage_key_text(&key, nullptr, 0, &size, &error_), "key.has_thread");
  key.has_thread = 0;
  key.with_destiny = 2;
  expect_invalid(airlock_storage_key_text(&key, nullptr, 0, &size, &error_), "key.with_destiny");
}

TEST_F(CMisuse, AnUnknownUriIsInvalidAndAPasswordNotRepeated) {
  Store store;
  expect_invalid(airlock_store_open(text("disk:"), Into(store), &error_), "disk");
  EXPECT_EQ(airlock_store_open(text("redis://u:hunter2@host/0?nonsense=1"), Into(store), &error_),
            AIRLOCK_INVALID);
  EXPECT_EQ(std::string_view(error_.text).find("hunter2"), std::string_view::npos);
}

#if !defined(AIRLOCK_SANITIZED)
TEST_F(CMisuse, WhatDoesNotFitIntoMemoryIsSaid) {
  auto key = sized<airlock_storage_key>();
  key.destiny = {"x", std::size_t{1} << 62};
  std::size_t size = 0;
  EXPECT_EQ(airlock_storage_key_text(&key, nullptr, 0, &size, &error_), AIRLOCK_NO_MEMORY);
  EXPECT_EQ(error_.status, AIRLOCK_NO_MEMORY);
}
#endif

}  // namespace
}  // namespace airlock::c_test
