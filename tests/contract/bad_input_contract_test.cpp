#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "contract/support/store_contract.hpp"

// Every bad input is InvalidArgument that names the value and the rule, and changes nothing.

namespace airlock::contract {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Rate kRate{.count = 10, .period = 1min};

class BadInput : public StoreContract {
 protected:
  void SetUp() override {
    holder_ = enters(visitor("holder").limit(5).weight(5).rate(kRate)).token;
    waits(visitor("waiter").limit(5));
  }

  using Words = std::vector<std::string>;

  // The call is InvalidArgument with these words in its text, and the gate stays as it was.
  void rejects(const std::function<void()>& call, const Words& words, Where where = Where()) {
    const std::string before = describe(look());
    try {
      call();
      ADD_FAILURE_AT(where.file, where.line) << "the call was accepted";
    } catch (const InvalidArgument& error) {
      for (const auto& word : words)
        EXPECT_THAT(error.what(), HasSubstr(word)) << where.file << ":" << where.line;
    }
    EXPECT_EQ(describe(look()), before) << where.file << ":" << where.line;
    EXPECT_EQ(store().list(), std::vector<std::string>{"gate"}) << where.file << ":" << where.line;
  }

  // Asked by a newcomer and by the waiter, at this gate and at one that nobody knows.
  void rejects(const Question& question, const Words& words, Where where = Where()) {
    for (const char* name : {"newcomer", "waiter"}) {
      rejects([&] { (void)ask(Question(question).named(name)); }, words, where);
      rejects([&] { (void)ask(Question(question).named(name).joins()); }, words, where);
    }
    rejects([&] { (void)ask(Question(question).at("unknown")); }, words, where);
  }

  void rejects_rate(const Rate& rate, const Words& words, Where where = Where()) {
    rejects(visitor("newcomer").rate(rate), words, where);
    rejects(visitor("newcomer").rate_only().rate(rate), words, where);
  }

  Token holder_{.gate = "gate"};
};

// --- names ---

TEST_P(BadInput, ANameOutsideItsRule) {
  const std::vector<std::string> names = {"",
                                          std::string(201, 'a'),
                                          "gate\n",
                                          std::string("ga\0te", 5),
                                          std::string("gate\0", 5),
                                          "{gate}",
                                          "a gate",
                                          "g\xc3\xa4te",
                                          "a/b/c",
                                          "/gate",
                                          "gate/",
                                          "gate\t",
                                          "ga%te",
                                          "gate*",
                                          "\x7f"};
  for (const auto& name : names) {
    rejects([&] { (void)GateName(std::string_view(name)); }, {});
    rejects([&] { (void)store().look(std::string_view(name)); }, {});
  }
  EXPECT_EQ(GateName(std::string(200, 'a')).view().size(), 200U);
  EXPECT_EQ(GateName("AZaz09_.:-/x").group(), "AZaz09_.:-");
}

TEST_P(BadInput, ANameIsQuotedInTheMessage) {
  rejects([] { (void)GateName("a gate"); }, {"a gate"});
  rejects([] { (void)GateName(std::string(201, 'a')); }, {"200"});
  rejects([] { (void)GateName("gate\n"); }, {"gate"});
}

// --- permits ---

TEST_P(BadInput, ALimitOfZeroOrAboveTheHighest) {
  rejects(visitor("newcomer").limit(0), {"limit", "0"});
  rejects(visitor("newcomer").limit(kMaxLimit + 1), {"limit", "2147483649"});
}

TEST_P(BadInput, AWeightOfZeroOrAboveTheLimit) {
  rejects(visitor("newcomer").limit(5).weight(0), {"weight", "0"});
  rejects(visitor("newcomer").limit(5).weight(6), {"weight", "6"});
}

TEST_P(BadInput, ATtlThatIsNotPositiveOrAbsurd) {
  rejects(visitor("newcomer").ttl(0s), {"ttl"});
  rejects(visitor("newcomer").ttl(-1us), {"ttl"});
  rejects(visitor("newcomer").ttl(kMaxTtl + 1us), {"ttl"});
  rejects(visitor("newcomer").ttl(kForever), {"ttl"});
  rejects(visitor("newcomer").ttl(Duration::min()), {"ttl"});
}

TEST_P(BadInput, ALabelThatIsTooLongOrNotPrintable) {
  for (const std::string& label :
       {std::string(65, 'a'), std::string("a\nb"), std::string("a\0b", 3)}) {
    Request request = visitor("newcomer").limit(5).request();
    request.label = label;
    rejects([&] { (void)store().admit(request); }, {"label"});
  }
  Request request = visitor("newcomer").at("labelled").request();
  const std::string longest(64, 'a');
  request.label = longest;
  ASSERT_TRUE(std::holds_alternative<Granted>(store().admit(request)));
  EXPECT_EQ(look("labelled").holders.at(0).label, longest);
}

TEST_P(BadInput, AQuestionAboutNothing) { rejects(visitor("newcomer").rate_only(), {}); }

// --- rates ---

TEST_P(BadInput, ARateOfZeroOrBeyondItsBounds) {
  rejects_rate({.count = 0, .period = 1s}, {"count", "0"});
  rejects_rate({.count = (1U << 31) + 1, .period = 1s}, {"count", "2147483649"});
  rejects_rate({.count = 1, .period = 0s}, {"period"});
  rejects_rate({.count = 1, .period = -1s}, {"period"});
  rejects_rate({.count = 1, .period = kForever}, {"period"});
}

// 142 times a year are just below 2^52 microseconds, 143 are above.
TEST_P(BadInput, ARateThatOverflows) {
  const Duration year = 24h * 365;
  rejects_rate({.count = 143, .period = year}, {"143"});
  rejects_rate({.count = 1, .period = year, .burst = 143}, {"burst", "143"});
  enters(visitor("ann").at("rated").rate_only().rate({.count = 142, .period = year}).cost(142));
  EXPECT_TRUE(store().purge("rated"));
}

TEST_P(BadInput, ACostThatOverflows) {
  const Rate yearly{.count = 1, .period = 24h * 365};
  rejects(visitor("newcomer").rate_only().rate(yearly).cost(143), {"cost", "143"});
}

TEST_P(BadInput, APeriodThatIsAbsurd) {
  rejects_rate({.count = 1, .period = 24h * 365 + 1us}, {"period", "365d"});
}

TEST_P(BadInput, ACostOfZeroOrAboveTheHighest) {
  rejects(visitor("newcomer").rate(kRate).cost(0), {"cost", "0"});
  rejects(visitor("newcomer").rate(kRate).cost((1U << 31) + 1), {"cost", "2147483649"});
}

TEST_P(BadInput, TwoTiersAlike) {
  rejects(visitor("newcomer").rate(kRate).rate({.count = 5, .period = 1min}), {});
}

TEST_P(BadInput, TooManyTiers) {
  Question question = visitor("newcomer");
  for (std::size_t i = 0; i <= kMaxRates; ++i)
    question.rate({.count = 1, .period = std::chrono::seconds(i + 1)});
  rejects(question, {"8"});
}

TEST_P(BadInput, AnotherModeThanTakeWithPermits) {
  rejects(visitor("newcomer").rate(kRate).mode(RateMode::peek), {"peek", "permits"});
  rejects(visitor("newcomer").rate(kRate).mode(RateMode::at_most), {"at_most", "permits"});
  rejects(visitor("newcomer").rate(kRate).mode(RateMode::reserve), {"reserve", "permits"});
}

TEST_P(BadInput, AReservationOfAWindow) {
  const Rate window{.count = 1, .period = 1s, .algorithm = Rate::Algorithm::sliding_window};
  rejects(visitor("newcomer").rate_only().rate(window).mode(RateMode::reserve), {"reserve"});
  rejects(visitor("newcomer").rate_only().rate(kRate).mode(RateMode::reserve).max_delay(-1s), {});
}

TEST_P(BadInput, ADedupeThatIsNegativeOrAbsurd) {
  rejects(visitor("newcomer").rate_only().rate(kRate).dedupe(-1us), {"dedupe"});
  rejects(visitor("newcomer").rate_only().rate(kRate).dedupe(kForever), {"dedupe"});
}

TEST_P(BadInput, ARefundOfABadRequest) {
  const Question bad = visitor("newcomer").rate_only().rate({.count = 0, .period = 1s});
  rejects([&] { store().refund(bad.request()); }, {"count"});
}

// --- lines ---

TEST_P(BadInput, APriorityAboveTheHighest) {
  rejects(visitor("newcomer").at("unknown").order(Order::priority).priority(4096),
          {"priority", "4096"});
}

TEST_P(BadInput, APatienceOrAClaimWindowThatIsNotPositiveOrAbsurd) {
  for (const Duration bad : {Duration(0), Duration(-1), kMaxTtl + 1us, kForever}) {
    rejects([&] { (void)ask(visitor("newcomer").joins().patience(bad)); }, {"patience"});
    rejects([&] { (void)ask(visitor("newcomer").joins().claim_window(bad)); }, {"claim"});
  }
}

TEST_P(BadInput, AnAgingLotteryWithoutTickets) {
  rejects(
      [&] {
        (void)ask(
            visitor("ann").at("unknown").joins().order(Order::aging_lottery).aging({0, 0, 0}));
      },
      {});
}

TEST_P(BadInput, AnotherOrderThanTheLinesOwn) {
  for (const Order order : {Order::priority, Order::lottery, Order::aging_lottery})
    rejects([&] { (void)ask(visitor("newcomer").limit(5).joins().order(order)); }, {"order"});
}

// --- tokens ---

// Scenario 7.
TEST_P(BadInput, ATokenOfAnotherStore) {
  Token foreign = holder_;
  foreign.store ^= 1;
  rejects([&] { (void)releases(foreign); }, {});
  rejects([&] { (void)store().renew(foreign, 1min); }, {});
  rejects([&] { (void)store().disown(foreign); }, {});
  rejects([&] { (void)store().adopt(foreign); }, {});
}

TEST_P(BadInput, AMessageNeverContainsATokenOrAVisitor) {
  Token foreign = holder_;
  foreign.store ^= 1;
  try {
    releases(foreign);
    ADD_FAILURE() << "the call was accepted";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find(foreign.text()), std::string::npos);
    EXPECT_EQ(text.find(foreign.visitor.text()), std::string::npos);
  }
}

TEST_P(BadInput, AForeignTokenAmongManyRenewsNone) {
  std::vector<RenewItem> items(2, RenewItem{.token = holder_, .ttl = 1h});
  items[1].token.store ^= 1;
  rejects([&] { store().renew(items); }, {});
}

TEST_P(BadInput, ATextThatIsNoToken) {
  const std::string text = holder_.text();
  EXPECT_EQ(Token::parse(text), holder_);
  std::vector<std::string> bad = {"", "airlock1~", "gate", text + "x", " " + text, text + "\n"};
  for (std::size_t size = 0; size < text.size(); ++size) bad.push_back(text.substr(0, size));
  for (std::size_t at = 0; at < text.size(); ++at) {
    bad.push_back(text);
    bad.back()[at] = text[at] == 'a' ? 'b' : 'a';
  }
  for (const auto& each : bad) rejects([&] { (void)Token::parse(each); }, {});
}

TEST_P(BadInput, ARenewalWithABadTtlOrWeight) {
  for (const Duration bad : {Duration(0), Duration(-1), kMaxTtl + 1us, kForever})
    rejects([&] { (void)store().renew(holder_, bad); }, {"ttl"});
  RenewItem item{.token = holder_, .ttl = 1min, .weight = 0};
  rejects([&] { store().renew({&item, 1}); }, {"weight"});
}

// --- operators ---

TEST_P(BadInput, APauseThatIsNotPositiveOrAbsurd) {
  for (const Duration bad : {Duration(0), Duration(-1), kMaxTtl + 1us, kForever}) {
    rejects([&] { store().pause(gate(), bad); }, {"pause"});
    rejects([&] { store().pause("unknown", bad, "health"); }, {"pause"});
  }
}

TEST_P(BadInput, AReporterThatIsTooLongOrNotPrintable) {
  rejects([&] { store().pause(gate(), 1s, std::string(65, 'a')); }, {"reporter"});
  rejects([&] { store().pause(gate(), 1s, "a\nb"); }, {"reporter"});
}

TEST_P(BadInput, AnOverrideAboveTheHighest) {
  rejects([&] { store().set_limit(gate(), kMaxLimit + 1); }, {"limit", "2147483649"});
}

INSTANTIATE_TEST_SUITE_P(Stores, BadInput, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace
}  // namespace airlock::contract
