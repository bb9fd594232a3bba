#include "airlock/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <locale>
#include <numeric>
#include <ostream>
#include <set>
#include <sstream>
#include <streambuf>
#include <vector>

#include "admission/prometheus.hpp"
#include "admission/support/prometheus_parser.hpp"
#include "seal/support/seal_test.hpp"

namespace airlock::seals {
namespace {

using prometheus::Family;
using prometheus::Sample;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Metrics : public SealTest {
 protected:
  std::string text() {
    std::ostringstream out;
    write_metrics(store(), out);
    return out.str();
  }

  // The value of a series; -1 if there is none.
  double value(const std::string& name, std::map<std::string, std::string> labels) {
    for (const Family& family : prometheus::parse(text()))
      for (const Sample& sample : family.samples)
        if (sample.name == name && sample.labels == labels) return sample.value;
    return -1;
  }

  // The values of a series by one of its labels, in the order of the text.
  std::vector<std::pair<std::string, double>> values(const std::string& name,
                                                     const std::string& label) {
    std::vector<std::pair<std::string, double>> found;
    for (const Family& family : prometheus::parse(text()))
      for (const Sample& sample : family.samples)
        if (sample.name == name) found.emplace_back(sample.labels.at(label), sample.value);
    return found;
  }

  Answer ask(std::string_view name, const GateName& gate = "erp", bool join = false) {
    Request request{.gate = gate, .visitor = VisitorId::named(name), .permits = Permits{2, 1, 10s}};
    request.line.join = join;
    return store().admit(request);
  }

  Token enters(std::string_view name, const GateName& gate = "erp") {
    return std::get<Granted>(ask(name, gate)).token;
  }

  void waits(std::string_view name) {
    EXPECT_TRUE(std::holds_alternative<Queued>(ask(name, "erp", true)));
  }
};

TEST_P(Metrics, OfAnEmptyStoreNameTheFamiliesOnly) {
  std::vector<std::string> names;
  for (const Family& family : prometheus::parse(text())) {
    names.push_back(family.name);
    const std::size_t samples = family.name == "airlock_unreadable_gates" ? 1 : 0;
    EXPECT_EQ(family.samples.size(), samples) << family.name;
  }
  EXPECT_THAT(names,
              ElementsAre("airlock_granted_total", "airlock_refused_total", "airlock_wait_seconds",
                          "airlock_in_use", "airlock_limit", "airlock_holders", "airlock_waiting",
                          "airlock_unreadable_gates", "airlock_leases_lost_total",
                          "airlock_handovers_missed_total", "airlock_abandoned_total"));
}

TEST_P(Metrics, ShowALockAsOnePermitAndCountItsReaders) {
  constexpr std::uint32_t kReaders = 65'536;
  const auto ask_lock = [&](std::string_view name, std::uint32_t weight) {
    return store().admit({.gate = "ledger",
                          .visitor = VisitorId::named(name),
                          .permits = Permits{kReaders, weight, 10s, true}});
  };
  const Token writer = std::get<Granted>(ask_lock("ann", kReaders)).token;
  EXPECT_EQ(value("airlock_in_use", {{"gate", "ledger"}}), 1);
  EXPECT_EQ(value("airlock_limit", {{"gate", "ledger"}}), 1);
  EXPECT_EQ(value("airlock_holders", {{"gate", "ledger"}}), 1);
  EXPECT_TRUE(store().release(writer));
  EXPECT_EQ(value("airlock_in_use", {{"gate", "ledger"}}), 0);
  (void)ask_lock("ann", 1);
  (void)ask_lock("bob", 1);
  store().set_limit("ledger", 3);
  EXPECT_EQ(value("airlock_in_use", {{"gate", "ledger"}}), 1);
  EXPECT_EQ(value("airlock_limit", {{"gate", "ledger"}}), 1);
  EXPECT_EQ(value("airlock_holders", {{"gate", "ledger"}}), 2);
  store().set_limit("ledger", 0);
  EXPECT_EQ(value("airlock_limit", {{"gate", "ledger"}}), 0);
}

TEST_P(Metrics, CountAdmissionsAndWhatIsInUse) {
  enters("ann");
  enters("bob");
  enters("ann", "other");
  waits("cid");
  EXPECT_EQ(value("airlock_granted_total", {{"gate", "erp"}}), 2);
  EXPECT_EQ(value("airlock_in_use", {{"gate", "erp"}}), 2);
  EXPECT_EQ(value("airlock_limit", {{"gate", "erp"}}), 2);
  EXPECT_EQ(value("airlock_waiting", {{"gate", "erp"}}), 1);
  EXPECT_EQ(value("airlock_granted_total", {{"gate", "other"}}), 1);
  EXPECT_EQ(value("airlock_waiting", {{"gate", "other"}}), 0);
}

TEST_P(Metrics, CountRefusalsByReason) {
  enters("ann");
  enters("bob");
  for (int i = 0; i < 3; ++i) (void)ask("cid");
  store().pause("erp", 1s);
  (void)ask("cid");
  EXPECT_THAT(values("airlock_refused_total", "reason"),
              ElementsAre(std::pair("full", 3), std::pair("rate", 0), std::pair("paused", 1),
                          std::pair("line_full", 0), std::pair("late", 0), std::pair("never", 0)));
}

TEST_P(Metrics, CountWhatWasLostByReason) {
  enters("ann");
  after(10s);
  enters("bob");
  enters("cid");
  store().revoke("erp", std::nullopt, Revoke::now);
  EXPECT_THAT(values("airlock_leases_lost_total", "reason"),
              ElementsAre(std::pair("expired", 1), std::pair("revoked", 2), std::pair("died", 0)));
}

TEST_P(Metrics, CountHandOversMissedAndWaitersGone) {
  const Token ann = enters("ann");
  enters("bob");
  waits("cid");
  waits("dan");
  store().leave("erp", VisitorId::named("dan"));
  store().release(ann);
  after(1s);
  EXPECT_EQ(value("airlock_handovers_missed_total", {{"gate", "erp"}}), 1);
  EXPECT_EQ(value("airlock_abandoned_total", {{"gate", "erp"}}), 1);
}

TEST_P(Metrics, TellHowLongThoseAdmittedHadWaited) {
  const Token ann = enters("ann");
  const Token bob = enters("bob");
  waits("cid");
  after(250ms);
  store().release(ann);
  enters("cid");  // The claim.
  waits("dan");
  after(3s);
  store().release(bob);
  enters("dan");
  EXPECT_THAT(values("airlock_wait_seconds_bucket", "le"),
              ElementsAre(std::pair("0.001", 2), std::pair("0.005", 2), std::pair("0.01", 2),
                          std::pair("0.05", 2), std::pair("0.1", 2), std::pair("0.5", 3),
                          std::pair("1", 3), std::pair("5", 4), std::pair("10", 4),
                          std::pair("60", 4), std::pair("300", 4), std::pair("+Inf", 4)));
  EXPECT_EQ(value("airlock_wait_seconds_sum", {{"gate", "erp"}}), 3.25);
  EXPECT_EQ(value("airlock_wait_seconds_count", {{"gate", "erp"}}), 4);
}

TEST_P(Metrics, HaveNoLimitWhereNobodyAskedForPermits) {
  const std::vector<Rate> rates{Rate::parse("10/s")};
  (void)store().admit({.gate = "api", .visitor = VisitorId::random(), .rates = rates});
  EXPECT_EQ(value("airlock_granted_total", {{"gate", "api"}}), 1);
  EXPECT_EQ(value("airlock_limit", {{"gate", "api"}}), -1);
  store().set_limit("closed", 0);
  EXPECT_EQ(value("airlock_limit", {{"gate", "closed"}}), 0);
}

TEST_P(Metrics, ShowTheLimitInEffect) {
  enters("ann");
  store().set_limit("erp", 7);
  EXPECT_EQ(value("airlock_limit", {{"gate", "erp"}}), 7);
}

TEST_P(Metrics, ComeInTheOrderOfTheGatesAndAlwaysTheSame) {
  for (const char* gate : {"zoo", "a.b", "group/x", "A"}) enters("ann", gate);
  std::vector<std::string> gates;
  for (const auto& [gate, number] : values("airlock_granted_total", "gate")) gates.push_back(gate);
  EXPECT_THAT(gates, ElementsAre("A", "a.b", "group/x", "zoo"));
  EXPECT_EQ(text(), text());
}

TEST_P(Metrics, AreOfThoseGatesThatAreWanted) {
  enters("ann", "erp");
  enters("ann", "user:17");
  std::ostringstream out;
  write_metrics(store(), out, [](std::string_view gate) { return !gate.starts_with("user:"); });
  EXPECT_EQ(store().calls("survey"), 1U);
  EXPECT_EQ(store().calls("look"), 0U) << "which copies holders and waiters";
  std::set<std::string> gates;
  for (const Family& family : prometheus::parse(out.str()))
    for (const Sample& sample : family.samples)
      if (sample.labels.contains("gate")) gates.insert(sample.labels.at("gate"));
  EXPECT_THAT(gates, ElementsAre("erp"));
}

TEST_P(Metrics, AreNotWrittenInPartWhenTheStoreFails) {
  enters("ann");
  store().fail_next(1, StoreError::Kind::unavailable);
  std::ostringstream out;
  EXPECT_THROW(write_metrics(store(), out), StoreError);
  EXPECT_EQ(out.str(), "");
}

// Writes 1000 as 1.000.
struct Dotted : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_P(Metrics, DoNotDependOnHowTheStreamWritesNumbers) {
  (void)store().admit({.gate = "big",
                       .visitor = VisitorId::random(),
                       .permits = Permits{.limit = 1'000'000, .weight = 123'456}});
  std::ostringstream out;
  out.imbue(std::locale(out.getloc(), new Dotted));
  out << std::hex << std::setw(100'000);
  write_metrics(store(), out);
  EXPECT_EQ(out.str(), text());
  EXPECT_EQ(value("airlock_in_use", {{"gate", "big"}}), 123'456);
}

bool runs(const std::string& command) {
  return std::system(command.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe): one thread here
}

TEST_P(Metrics, PleasePromtool) {
  if (!runs("command -v promtool >/dev/null 2>&1")) {
    GTEST_SKIP() << "PROMTOOL IS NOT INSTALLED: only our own parser has read the metrics";
  }
  enters("ann");
  enters("ann", "group/x");
  const auto file = std::filesystem::temp_directory_path() / ("airlock-metrics-" + GetParam().name);
  std::ofstream(file) << text();
  EXPECT_TRUE(runs("promtool check metrics < " + file.string()));
  std::filesystem::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Stores, Metrics, ::testing::ValuesIn(all_stores()),
                         contract::name_of_store);

TEST(Prometheus, EscapesWhatALabelCannotHold) {
  EXPECT_EQ(prometheus::escaped("plain:name-1.x/y"), "plain:name-1.x/y");
  EXPECT_EQ(prometheus::escaped("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
  prometheus::Text out;
  out.family("x", "gauge", "Help.");
  out.sample("x", {{"gate", "a\\b\"c\nd\\n"}, {"reason", ""}}, "1");
  EXPECT_EQ(prometheus::parse(out.str()).at(0).samples.at(0),
            (Sample{"x", {{"gate", "a\\b\"c\nd\\n"}, {"reason", ""}}, 1}));
}

// It was there as a whole, three times: 500 MB for 100 000 gates.
TEST(Prometheus, WritesLongTextsInBlocks) {
  struct Blocks : std::streambuf {
    std::streamsize xsputn(const char* /*text*/, std::streamsize size) override {
      sizes.push_back(size);
      return size;
    }
    std::vector<std::streamsize> sizes;
  } blocks;
  std::ostream out(&blocks);
  prometheus::Text text(out);
  const std::string line = "x{gate=\"" + std::string(100, 'g') + "\"} 1\n";
  for (int i = 0; i < 2'000; ++i) text.sample("x", {{"gate", std::string(100, 'g')}}, "1");
  text.flush();
  const auto whole = static_cast<std::streamsize>(2'000 * line.size());
  EXPECT_EQ(std::accumulate(blocks.sizes.begin(), blocks.sizes.end(), std::streamsize{0}), whole);
  EXPECT_LT(std::ranges::max(blocks.sizes), 100'000);
}

TEST(Prometheus, WritesSecondsExactly) {
  EXPECT_EQ(prometheus::seconds(0s), "0");
  EXPECT_EQ(prometheus::seconds(1us), "0.000001");
  EXPECT_EQ(prometheus::seconds(5ms), "0.005");
  EXPECT_EQ(prometheus::seconds(1s), "1");
  EXPECT_EQ(prometheus::seconds(300s), "300");
  EXPECT_EQ(prometheus::seconds(12s + 1us), "12.000001");
  EXPECT_EQ(prometheus::seconds(24h * 365 + 100ms), "31536000.1");
}

// The parser is only worth something if it says no.
TEST(Prometheus, ParserTakesNothingMalformed) {
  const std::string head = "# HELP x_total H\n# TYPE x_total counter\n";
  EXPECT_NO_THROW((void)prometheus::parse(head + "x_total{gate=\"a\"} 1\n"));
  for (const char* bad :
       {"x_total{gate=\"a\"} 1", "x_total{gate=a} 1\n", "x_total{gate=\"a\"b\"} 1\n",
        "x_total{gate=\"a\\x\"} 1\n", "x_total{gate=\"a\"} 1.000.000\n", "x_total {gate=\"a\"} 1\n",
        "x_total{gate=\"a\"} 1\nx_total{gate=\"a\"} 2\n", "y_total 1\n", "x_total 1 \n",
        "# HELP x_total H\n", "# TYPE x_total counter\n", "\n",
        "# HELP y H\n# TYPE y counter\ny 1\n", "# HELP y H\n# TYPE y histogram\ny_count 1\n",
        "# HELP y H\n# TYPE y histogram\ny_bucket{le=\"1\"} 2\ny_bucket{le=\"+Inf\"} 1\ny_sum "
        "0\ny_count 1\n",
        "# HELP y H\n# TYPE y histogram\ny_bucket{le=\"1\"} 2\ny_sum 0\ny_count 2\n",
        "# HELP y H\n# TYPE y histogram\ny_bucket{le=\"+Inf\"} 2\ny_sum 0\ny_count 1\n"}) {
    EXPECT_THROW((void)prometheus::parse(head + bad), std::runtime_error) << bad;
  }
}

}  // namespace
}  // namespace airlock::seals
