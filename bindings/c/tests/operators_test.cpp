#include "support.hpp"

namespace airlock::c_test {
namespace {

using COperators = StoreTest;
INSTANTIATE_TEST_SUITE_P(Stores, COperators, testing::ValuesIn(stores()), name_of);

std::vector<std::string> texts_of(const List& list) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < airlock_list_size(list.get()); ++at) {
    texts.push_back(string_of(airlock_list_at(list.get(), at)));
  }
  return texts;
}

TEST_P(COperators, TheyListGatesMetricsAndFindings) {
  const Gate b = gate("b", limit_of(1));
  const Gate a = gate("a", limit_of(1));
  const Lease held_b = enter(b);
  const Lease held_a = enter(a);
  List names;
  ASSERT_EQ(airlock_gates(store(), Into(names), nullptr), AIRLOCK_DONE);
  std::vector<std::string> own_names;
  for (const std::string& name : texts_of(names)) {
    if (name == own("a") || name == own("b")) own_names.push_back(name);
  }
  EXPECT_EQ(own_names, (std::vector<std::string>{own("a"), own("b")}));
  EXPECT_EQ(airlock_list_at(names.get(), 1000).data, nullptr);

  List metrics;
  ASSERT_EQ(airlock_metrics(store(), Into(metrics), nullptr), AIRLOCK_DONE);
  ASSERT_EQ(airlock_list_size(metrics.get()), 1U);
  EXPECT_NE(texts_of(metrics)[0].find("airlock_in_use{gate=\"" + own("a") + "\"} 1"),
            std::string::npos);

  List findings;
  ASSERT_EQ(airlock_doctor(store(), Into(findings), nullptr), AIRLOCK_DONE);
  for (const std::string& finding : texts_of(findings)) {
    EXPECT_TRUE(finding.starts_with("good: ") || finding.starts_with("warning: ") ||
                finding.starts_with("problem: "))
        << finding;
  }
}

TEST_P(COperators, TheySeeAGate) {
  const airlock_rate rate{.count = 100,
                          .burst = 50,
                          .period = AIRLOCK_SECOND,
                          .algorithm = AIRLOCK_GCRA,
                          .reserved = 0};
  auto options = limit_of(2);
  options.rates = &rate;
  options.rate_count = 1;
  const Gate erp = gate("erp", options);
  const Lease lease = enter(erp);
  ASSERT_EQ(airlock_pause(store(), text(own("erp")), 60 * AIRLOCK_SECOND, text("probe"), nullptr),
            AIRLOCK_DONE);
  View view;
  ASSERT_EQ(airlock_look(store(), text(own("erp")), Into(view), nullptr), AIRLOCK_DONE);

  auto summary = sized<airlock_summary>();
  ASSERT_EQ(airlock_view_summary(view.get(), &summary, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(summary.in_use, 1U);
  EXPECT_EQ(summary.limit, 2U);
  EXPECT_EQ(summary.override_limit, -1);
  EXPECT_EQ(summary.holders, 1U);
  EXPECT_EQ(summary.waiters, 0U);
  EXPECT_EQ(summary.rates, 1U);
  EXPECT_EQ(summary.pauses, 1U);
  EXPECT_EQ(summary.granted, 1U);
  EXPECT_EQ(summary.last_fence, airlock_lease_fence(lease.get()));

  auto holder = sized<airlock_holder>();
  ASSERT_EQ(airlock_view_holder(view.get(), 0, &holder, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(holder.weight, 1U);
  EXPECT_EQ(holder.slot, 0);
  EXPECT_EQ(holder.claimed, 1U);
  EXPECT_EQ(holder.revoked, 0U);
  EXPECT_EQ(holder.detached, 0U);
  EXPECT_GT(holder.remaining, 0);
  EXPECT_GT(holder.label.size, 0U);
  EXPECT_EQ(airlock_view_holder(view.get(), 1, &holder, nullptr), AIRLOCK_NOTHING);

  airlock_rate seen{};
  airlock_rate_info info{};
  ASSERT_EQ(airlock_view_rate(view.get(), 0, &seen, &info, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(seen.count, 100U);
  EXPECT_EQ(seen.burst, 50U);
  EXPECT_EQ(info.limit, 50U);
  EXPECT_EQ(airlock_view_rate(view.get(), 1, &seen, &info, nullptr), AIRLOCK_NOTHING);

  airlock_text reporter{};
  std::int64_t remaining = 0;
  ASSERT_EQ(airlock_view_pause(view.get(), 0, &reporter, &remaining, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(string_of(reporter), "probe");
  EXPECT_GT(remaining, 0);
  EXPECT_EQ(airlock_view_pause(view.get(), 1, &reporter, &remaining, nullptr), AIRLOCK_NOTHING);
}

TEST_P(COperators, TheyOverrideALimit) {
  const Gate erp = gate("erp", limit_of(1));
  ASSERT_EQ(airlock_limit_set(store(), text(own("erp")), 2, nullptr), AIRLOCK_DONE);
  const Lease a = enter(erp);
  const Lease b = enter(erp);
  EXPECT_EQ(counts("erp").limit, 2U);
  EXPECT_EQ(counts("erp").overridden, 1U);
  EXPECT_EQ(counts("erp").holders, 2U);
  ASSERT_EQ(airlock_limit_clear(store(), text(own("erp")), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(counts("erp").overridden, 0U);
}

TEST_P(COperators, TheyPauseAndResume) {
  const Gate erp = gate("erp", limit_of(1));
  ASSERT_EQ(airlock_pause(store(), text(own("erp")), 60 * AIRLOCK_SECOND, text(""), nullptr),
            AIRLOCK_DONE);
  Lease none;
  Answer answer;
  EXPECT_EQ(airlock_enter(erp.get(), nullptr, 0, Into(none), &answer, nullptr), AIRLOCK_REFUSED);
  EXPECT_EQ(answer.reason, AIRLOCK_REASON_PAUSED);
  EXPECT_EQ(airlock_resume(store(), text(own("erp")), text("another"), nullptr), AIRLOCK_NOTHING);
  EXPECT_EQ(airlock_resume(store(), text(own("erp")), text(""), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_enter(erp.get(), nullptr, 0, Into(none), &answer, nullptr), AIRLOCK_DONE);
}

TEST_P(COperators, TheyRevokeOneOrAll) {
  const Gate erp = gate("erp", limit_of(3));
  const Lease a = enter(erp);
  const Lease b = enter(erp);
  char token[AIRLOCK_TOKEN_SIZE];
  ASSERT_EQ(airlock_lease_token(a.get(), token, nullptr), AIRLOCK_DONE);
  auto parts = sized<airlock_token_parts>();
  ASSERT_EQ(airlock_token_parse(text(token), &parts, nullptr), AIRLOCK_DONE);
  std::size_t count = 0;
  ASSERT_EQ(airlock_revoke(store(), text(own("erp")), &parts.visitor, 1, &count, nullptr),
            AIRLOCK_DONE);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(counts("erp").holders, 1U);
  ASSERT_EQ(airlock_revoke(store(), text(own("erp")), nullptr, 0, nullptr, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_revoke(store(), text(own("erp")), nullptr, 2, nullptr, nullptr),
            AIRLOCK_INVALID);
}

TEST_P(COperators, WhatNobodyUsedIsNotKnown) {
  View view;
  EXPECT_EQ(airlock_look(store(), text(own("none")), Into(view), nullptr), AIRLOCK_NOTHING);
  EXPECT_EQ(view, nullptr);
  EXPECT_EQ(airlock_purge(store(), text(own("none")), nullptr), AIRLOCK_NOTHING);
  EXPECT_EQ(counts("none").limit, 0U);
  const Gate erp = gate("erp", limit_of(1));
  const Lease lease = enter(erp);
  EXPECT_EQ(airlock_purge(store(), text(own("erp")), nullptr), AIRLOCK_DONE);
  EXPECT_EQ(counts("erp").in_use, 0U);
}

}  // namespace
}  // namespace airlock::c_test
