#include "store/validate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <ostream>
#include <string>
#include <vector>

#include "airlock/error.hpp"

namespace {
std::atomic<std::size_t> g_allocations{0};
}  // namespace

// Not inlined: g++ would see a free() of what a new made, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++g_allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals
using Algorithm = Rate::Algorithm;

// A request with everything that its parts point to.
struct Draft {
  Request request{.gate = "erp", .visitor = {.high = 1, .low = 2}};
  std::vector<Rate> rates = {};

  [[nodiscard]] Request finished() const {
    Request copy = request;
    copy.rates = rates;
    return copy;
  }
};

Draft with_permits() {
  Draft draft;
  draft.request.permits = Permits{.limit = 10};
  return draft;
}

Draft with_rates(std::vector<Rate> rates) {
  Draft draft;
  draft.rates = std::move(rates);
  return draft;
}

Draft with_rate() { return with_rates({{.count = 100, .period = 1s}}); }

struct Case {
  std::string name;
  std::function<Draft()> base;
  std::function<void(Draft&)> change;
  std::string message = {};  // A part of it; empty: the request is good.

  [[nodiscard]] Draft draft() const {
    Draft result = base();
    change(result);
    return result;
  }

  friend std::ostream& operator<<(std::ostream& out, const Case& each) { return out << each.name; }
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

class GoodRequest : public ::testing::TestWithParam<Case> {};

TEST_P(GoodRequest, PassesWithoutAllocating) {
  const Draft draft = GetParam().draft();
  const Request request = draft.finished();
  const std::size_t before = g_allocations;
  validate(request);
  EXPECT_EQ(g_allocations, before);
}

class BadRequest : public ::testing::TestWithParam<Case> {};

TEST_P(BadRequest, IsRefusedByValueAndRule) {
  const Draft draft = GetParam().draft();
  const std::string message = message_of([&] { validate(draft.finished()); });
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << "said: " << message;
  EXPECT_NE(message, "");
}

const std::vector<Case> kGood = {
    {"Permits", with_permits, [](Draft&) {}},
    {"PermitsAndRates", with_permits, [](Draft& d) { d.rates = with_rate().rates; }},
    {"Rate", with_rate, [](Draft&) {}},
    {"WholeLimit", with_permits, [](Draft& d) { d.request.permits->weight = 10; }},
    {"HighestLimit", with_permits, [](Draft& d) { d.request.permits->limit = kMaxLimit; }},
    {"LongestTtl", with_permits, [](Draft& d) { d.request.permits->ttl = kMaxTtl; }},
    {"ShortestTtl", with_permits, [](Draft& d) { d.request.permits->ttl = 1us; }},
    {"LongestLabel", with_permits,
     [](Draft& d) {
       d.request.label = "caf\xc3\xa9 7890123456789012345678901234567890123456789012345678901234";
     }},
    {"EveryAlgorithm", with_rate,
     [](Draft& d) {
       d.rates.push_back({.count = 1, .period = 1s, .algorithm = Algorithm::sliding_window});
       d.rates.push_back({.count = 1, .period = 1s, .algorithm = Algorithm::fixed_window});
       d.rates.push_back({.algorithm = Algorithm::no_limit});
     }},
    {"EightTiers", with_rate,
     [](Draft& d) {
       for (int i = 2; i <= 8; ++i) d.rates.push_back({.count = 1, .period = i * 1s});
     }},
    {"CostAboveTheBurst", with_rate, [](Draft& d) { d.request.cost = 1'000; }},
    {"LargestCost", with_rate, [](Draft& d) { d.request.cost = 2'147'483'648; }},
    {"AnyCostOfNoLimit", [] { return with_rates({{.algorithm = Algorithm::no_limit}}); },
     [](Draft& d) { d.request.cost = 2'147'483'648; }},
    {"Reserve", with_rate, [](Draft& d) { d.request.mode = RateMode::reserve; }},
    {"ReserveOfNoLimit", [] { return with_rates({{.algorithm = Algorithm::no_limit}}); },
     [](Draft& d) { d.request.mode = RateMode::reserve; }},
    {"Peek", with_rate, [](Draft& d) { d.request.mode = RateMode::peek; }},
    {"AtMost", with_rate, [](Draft& d) { d.request.mode = RateMode::at_most; }},
    {"Dedupe", with_rate, [](Draft& d) { d.request.dedupe = kMaxTtl; }},
    {"RateJoinsALine", with_rate, [](Draft& d) { d.request.line.join = true; }},
    {"HighestPriority", with_permits,
     [](Draft& d) {
       d.request.line = {.join = true, .order = Order::priority, .priority = kMaxPriority};
     }},
    {"LongestPatience", with_permits,
     [](Draft& d) {
       d.request.line = {.join = true, .patience = kMaxTtl, .claim_window = kMaxTtl, .max_eta = 0s};
     }},
    {"Aging", with_permits,
     [](Draft& d) {
       d.request.line = {.join = true,
                         .order = Order::aging_lottery,
                         .aging = {.base = 1 << 20, .per_second = 1 << 20, .max = 1 << 20}};
     }},
    {"AgingThatIsNotUsed", with_permits, [](Draft& d) { d.request.line.aging.base = 0; }},
};

INSTANTIATE_TEST_SUITE_P(Validate, GoodRequest, ::testing::ValuesIn(kGood), name_of);

const std::vector<Case> kBadParts = {
    {"Nothing", [] { return Draft{}; }, [](Draft&) {},
     "request without permits and rates: one of them is needed"},
    {"NoLimit", with_permits, [](Draft& d) { d.request.permits->limit = 0; }, "limit 0: 1 or more"},
    {"LimitTooHigh", with_permits, [](Draft& d) { d.request.permits->limit = kMaxLimit + 1; },
     "limit 2147483649: at most 2147483648"},
    {"NoWeight", with_permits, [](Draft& d) { d.request.permits->weight = 0; }, "weight 0: 1 to"},
    {"WeightAboveLimit", with_permits, [](Draft& d) { d.request.permits->weight = 11; },
     "weight 11: 1 to the limit, 10"},
    {"NoTtl", with_permits, [](Draft& d) { d.request.permits->ttl = 0s; }, "ttl 0s: above 0"},
    {"NegativeTtl", with_permits, [](Draft& d) { d.request.permits->ttl = -1s; },
     "ttl -1s: above 0"},
    {"TtlTooLong", with_permits, [](Draft& d) { d.request.permits->ttl = kMaxTtl + 1us; },
     "ttl 365d0.000001s: above 0 and at most 365d"},
    {"EndlessTtl", with_permits, [](Draft& d) { d.request.permits->ttl = kForever; },
     "ttl forever"},
    {"LabelTooLong", with_permits,
     [](Draft& d) {
       d.request.label = "12345678901234567890123456789012345678901234567890123456789012345";
     },
     "at most 64 bytes are shown, it has 65"},
    {"LabelOfTwoLines", with_permits, [](Draft& d) { d.request.label = "a\nb"; },
     "label \"a\\x0ab\": no control characters"},
    {"LabelWithDelete", with_permits, [](Draft& d) { d.request.label = "\x7f"; }, "label"},
    {"LabelWithNul", with_permits, [](Draft& d) { d.request.label = std::string_view("\0", 1); },
     "label \"\\x00\""},
    {"NoCost", with_rate, [](Draft& d) { d.request.cost = 0; }, "cost 0: 1 to 2147483648"},
    {"CostTooLarge", with_rate, [](Draft& d) { d.request.cost = 2'147'483'649; },
     "cost 2147483649"},
    {"NegativeMaxDelay", with_rate, [](Draft& d) { d.request.max_delay = -1us; }, "max_delay -1us"},
};

INSTANTIATE_TEST_SUITE_P(Parts, BadRequest, ::testing::ValuesIn(kBadParts), name_of);

Case bad_rate(const std::string& name, const Rate& rate, const std::string& message) {
  return {name, [rate] { return with_rates({rate}); }, [](Draft&) {}, message};
}

const std::vector<Case> kBadRates = {
    bad_rate("NoCount", {.count = 0, .period = 1s}, "rate 0/s: the count is 1 to"),
    bad_rate("CountTooLarge", {.count = 2'147'483'649, .period = 1s}, "rate 2147483649/s"),
    bad_rate("NoPeriod", {.count = 1, .period = 0s}, "rate 1/0s: the period is at least 1us"),
    bad_rate("NegativePeriod", {.count = 1, .period = -1s}, "rate 1/-1s"),
    bad_rate("PeriodTooLong", {.count = 1, .period = kMaxTtl + 1us}, "at most 365d"),
    bad_rate("EndlessPeriod", {.count = 1, .period = kForever}, "rate 1/forever"),
    bad_rate("BurstTooLarge", {.count = 1, .period = 1us, .burst = 2'147'483'649}, "the burst is"),
    bad_rate("BurstOfAWindow",
             {.count = 1, .period = 1s, .burst = 1, .algorithm = Algorithm::fixed_window},
             "only a GCRA rate has a burst"),
    bad_rate("CountTimesPeriod", {.count = 1U << 31, .period = Duration((1 << 21) + 1)}, "2^52us"),
    bad_rate("BurstTimesPeriod", {.count = 1, .period = 24h, .burst = 1'000'000}, "2^52us"),
    bad_rate("ProductAbove64Bits", {.count = 1U << 31, .period = kMaxTtl}, "2^52us"),
    {"CostTimesPeriod", [] { return with_rates({{.count = 1, .period = 24h}}); },
     [](Draft& d) { d.request.cost = 1'000'000; }, "the cost is 1000000"},
    {"TwoAlike", with_rate, [](Draft& d) { d.rates.push_back({.count = 5, .period = 1s}); },
     "rates 100/s and 5/s: two tiers of one algorithm and period"},
    {"NineTiers", with_rate,
     [](Draft& d) {
       for (int i = 2; i <= 9; ++i) d.rates.push_back({.count = 1, .period = i * 1s});
     },
     "rates 9: at most 8"},
};

INSTANTIATE_TEST_SUITE_P(Rates, BadRequest, ::testing::ValuesIn(kBadRates), name_of);

Case bad_mode(const std::string& name, RateMode mode, const std::function<Draft()>& base,
              const std::string& message) {
  return {name, base, [mode](Draft& d) { d.request.mode = mode; }, message};
}

Draft permits_and_rate() {
  Draft draft = with_rate();
  draft.request.permits = Permits{.limit = 10};
  return draft;
}

Draft joining() {
  Draft draft = with_rate();
  draft.request.line.join = true;
  return draft;
}

const std::vector<Case> kBadModes = {
    bad_mode("PeekAtPermits", RateMode::peek, permits_and_rate, "mode peek: only take goes with"),
    bad_mode("AtMostOfPermits", RateMode::at_most, permits_and_rate, "mode at_most: only take"),
    bad_mode("ReserveWithPermits", RateMode::reserve, permits_and_rate, "mode reserve: only take"),
    bad_mode("PeekOfPermitsOnly", RateMode::peek, with_permits, "mode peek"),
    bad_mode("PeekInLine", RateMode::peek, joining, "mode peek: only take can join a line"),
    bad_mode("AtMostInLine", RateMode::at_most, joining, "mode at_most: only take can join"),
    bad_mode("ReserveInLine", RateMode::reserve, joining, "mode reserve: only take can join"),
    bad_mode(
        "ReserveOfAWindow", RateMode::reserve,
        [] {
          return with_rates({{.count = 1, .period = 1s, .algorithm = Algorithm::sliding_window}});
        },
        "rate 1/s,sliding: only rates without a window"),
    {"NegativeDedupe", with_rate, [](Draft& d) { d.request.dedupe = -1s; }, "dedupe -1s"},
    {"DedupeTooLong", with_rate, [](Draft& d) { d.request.dedupe = kMaxTtl + 1us; }, "dedupe 365d"},
    {"DedupeOfPermits", with_permits, [](Draft& d) { d.request.dedupe = 1s; },
     "dedupe 1s: permits are idempotent"},
    {"DedupeOfPeek", with_rate,
     [](Draft& d) {
       d.request.dedupe = 1s;
       d.request.mode = RateMode::peek;
     },
     "dedupe 1s: only in mode take"},
};

INSTANTIATE_TEST_SUITE_P(Modes, BadRequest, ::testing::ValuesIn(kBadModes), name_of);

Case bad_line(const std::string& name, const Line& line, const std::string& message) {
  return {name, with_permits, [line](Draft& d) { d.request.line = line; }, message};
}

const std::vector<Case> kBadLines = {
    bad_line("PriorityInFifo", {.join = true, .priority = 1},
             "priority 1: needs the order priority"),
    bad_line("PriorityTooHigh", {.order = Order::priority, .priority = 4096}, "priority 4096: at"),
    bad_line("NoPatience", {.join = true, .patience = 0s}, "patience 0s: above 0"),
    bad_line("PatienceTooLong", {.join = true, .patience = kForever}, "patience forever"),
    bad_line("NoClaimWindow", {.join = true, .claim_window = 0s}, "claim window 0s"),
    bad_line("ClaimWindowTooLong", {.join = true, .claim_window = kMaxTtl + 1us}, "claim window"),
    bad_line("NegativeMaxEta", {.join = true, .max_eta = -1us}, "max_eta -1us: 0 or more"),
    bad_line("JoinsAndReturns", {.join = true, .returning = true},
             "line join: a returning visitor"),
    bad_line("NoBase", {.order = Order::aging_lottery, .aging = {.base = 0}}, "aging base 0"),
    bad_line("MaxBelowBase", {.order = Order::aging_lottery, .aging = {.base = 5, .max = 4}},
             "aging max 4: 5 (the base) to 1048576"),
    bad_line("MaxTooLarge", {.order = Order::aging_lottery, .aging = {.max = (1 << 20) + 1}},
             "aging max 1048577"),
    bad_line("PerSecondTooLarge",
             {.order = Order::aging_lottery, .aging = {.per_second = (1 << 20) + 1}},
             "aging per_second 1048577"),
};

INSTANTIATE_TEST_SUITE_P(Lines, BadRequest, ::testing::ValuesIn(kBadLines), name_of);

std::vector<Request> group_of(std::size_t size) {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < size; ++i) {
    requests.push_back({.gate = "tenant/" + std::to_string(i),
                        .visitor = {.high = 1, .low = 2},
                        .permits = Permits{.limit = 1}});
  }
  return requests;
}

std::string group_message(const std::vector<Request>& requests) {
  return message_of([&] { validate_group(requests); });
}

TEST(ValidateGroup, OneToSixteenGatesOfOneGroupPass) {
  for (const std::size_t size : {1U, 2U, 16U}) EXPECT_EQ(group_message(group_of(size)), "");
  std::vector<Request> requests = group_of(2);
  requests[0].gate = "tenant";
  EXPECT_EQ(group_message(requests), "");
}

TEST(ValidateGroup, NoGateAndSeventeenGatesAreRefused) {
  EXPECT_EQ(group_message({}), "group request of 0: 1 to 16 gates are decided together");
  EXPECT_EQ(group_message(group_of(17)), "group request of 17: 1 to 16 gates are decided together");
}

TEST(ValidateGroup, WhatCannotBeDecidedTogetherIsRefused) {
  std::vector<Request> requests = group_of(3);
  requests[2].gate = "other/2";
  EXPECT_EQ(group_message(requests), "gate other/2: not of the group of tenant/0");
  requests[2].gate = "tenant/1";
  EXPECT_EQ(group_message(requests), "gate tenant/1: twice in one group request");
  requests = group_of(3);
  requests[2].visitor.low = 3;
  EXPECT_EQ(group_message(requests), "gate tenant/2: asked for another visitor than tenant/0");
}

TEST(ValidateGroup, EveryMemberIsValidated) {
  std::vector<Request> requests = group_of(3);
  requests[2].permits->limit = 0;
  EXPECT_EQ(group_message(requests), "limit 0: 1 or more is needed");
  const Rate rate{.count = 1, .period = 1s};
  for (const RateMode mode : {RateMode::peek, RateMode::at_most, RateMode::reserve}) {
    requests = group_of(2);
    requests[1].permits.reset();
    requests[1].rates = std::span(&rate, 1);
    EXPECT_EQ(group_message(requests), "");
    requests[1].mode = mode;
    EXPECT_NE(group_message(requests).find("only take in a group"), std::string::npos);
  }
}

TEST(ValidateTtl, IsAboveZeroAndAtMostAYear) {
  EXPECT_EQ(message_of([] { validate_ttl(1us); }), "");
  EXPECT_EQ(message_of([] { validate_ttl(kMaxTtl); }), "");
  EXPECT_EQ(message_of([] { validate_ttl(0s); }), "ttl 0s: above 0 and at most 365d is needed");
  EXPECT_NE(message_of([] { validate_ttl(kForever); }), "");
}

TEST(ValidateLimit, MayBeZeroForAnOperator) {
  EXPECT_EQ(message_of([] { validate_limit(0); }), "");
  EXPECT_EQ(message_of([] { validate_limit(kMaxLimit); }), "");
  EXPECT_EQ(message_of([] { validate_limit(kMaxLimit + 1); }),
            "limit 2147483649: at most 2147483648");
}

TEST(ValidatePause, HasAnEndAndAPrintableReporter) {
  EXPECT_EQ(message_of([] { validate_pause(30s, ""); }), "");
  EXPECT_EQ(message_of([] { validate_pause(30s, std::string(64, 'r')); }), "");
  EXPECT_EQ(message_of([] { validate_pause(0s, ""); }),
            "pause 0s: above 0 and at most 365d is needed");
  EXPECT_NE(message_of([] { validate_pause(kForever, ""); }), "");
  EXPECT_NE(message_of([] { validate_pause(1s, std::string(65, 'r')); }), "");
  EXPECT_EQ(message_of([] { validate_pause(1s, "a\tb"); }),
            "reporter \"a\\x09b\": no control characters");
}

}  // namespace
}  // namespace airlock
