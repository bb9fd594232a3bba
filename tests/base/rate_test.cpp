#include "airlock/rate.hpp"

#include <gtest/gtest.h>

#include <string>

#include "airlock/error.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals
using Algorithm = Rate::Algorithm;

struct Pair {
  const char* text;
  Rate rate;
};

class RateText : public ::testing::TestWithParam<Pair> {};

TEST_P(RateText, IsReadAndWrittenTheSame) {
  EXPECT_EQ(Rate::parse(GetParam().text), GetParam().rate);
  EXPECT_EQ(GetParam().rate.text(), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Canonical, RateText,
    ::testing::Values(
        Pair{"100/s", {.count = 100, .period = 1s}}, Pair{"1/us", {.count = 1, .period = 1us}},
        Pair{"1/ms", {.count = 1, .period = 1ms}}, Pair{"10/m", {.count = 10, .period = 1min}},
        Pair{"10/d", {.count = 10, .period = 24h}}, Pair{"10/10s", {.count = 10, .period = 10s}},
        Pair{"10/1.5s", {.count = 10, .period = 1500ms}},
        Pair{"10/1m30s", {.count = 10, .period = 90s}},
        Pair{"100/s,burst=20", {.count = 100, .period = 1s, .burst = 20}},
        Pair{"100/s,burst=100", {.count = 100, .period = 1s, .burst = 100}},
        Pair{"1000000/d,burst=1000", {.count = 1'000'000, .period = 24h, .burst = 1'000}},
        Pair{"5/h,sliding", {.count = 5, .period = 1h, .algorithm = Algorithm::sliding_window}},
        Pair{"5/h,fixed", {.count = 5, .period = 1h, .algorithm = Algorithm::fixed_window}},
        Pair{"2147483648/s", {.count = 2'147'483'648, .period = 1s}},
        Pair{"unlimited", {.algorithm = Algorithm::no_limit}}));

class RateInput : public ::testing::TestWithParam<Pair> {};

TEST_P(RateInput, IsAlsoRead) { EXPECT_EQ(Rate::parse(GetParam().text), GetParam().rate); }

INSTANTIATE_TEST_SUITE_P(
    Forms, RateInput,
    ::testing::Values(Pair{"10/1m", {.count = 10, .period = 1min}},
                      Pair{"10/5", {.count = 10, .period = 5s}},
                      Pair{"007/s", {.count = 7, .period = 1s}},
                      Pair{"5/1h,sliding",
                           {.count = 5, .period = 1h, .algorithm = Algorithm::sliding_window}}));

class BadRate : public ::testing::TestWithParam<std::string> {};

TEST_P(BadRate, IsRefusedByName) {
  try {
    FAIL() << "was read as " << Rate::parse(GetParam()).text();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).rfind("rate ", 0), 0U) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BadRate,
    ::testing::Values("", "100", "/s", "100/", "100/,sliding", "-1/s", "+1/s", "0/s", "1.5/s",
                      " 1/s", "1 /s", "1/ s", "1/s ", "1/s\n", "1/x", "1/.5s", "1/h30m", "1/-1s",
                      "1/0s", "1/forever", "1/366d", "1/s,", "1/s,,burst=2", "1/s,burst",
                      "1/s,burst=", "1/s,burst=0", "1/s,burst=-1", "1/s,burst=2x",
                      "1/s,burst=2,burst=3", "1/s,burst=2,sliding", "1/s,sliding,burst=2",
                      "1/s,sliding,fixed", "1/s,sliding,sliding", "1/s,gcra", "1/s/s", "Unlimited",
                      "unlimited/s", "2147483649/s", "4294967296/s", "99999999999999999999/s",
                      "1/s,burst=2147483649", "1/s,burst=4294967297"));

INSTANTIATE_TEST_SUITE_P(TimesItsPeriodAbove2To52, BadRate,
                         ::testing::Values("2147483648/3s", "1000000/d", "1000000/d,sliding",
                                           "10/s,burst=2147483648/x", "10/1h,burst=2147483648"));

TEST(Rate, TheProductOfBurstAndPeriodMayBeExactly2To52) {
  EXPECT_NO_THROW((void)Rate::parse("2147483648/2097152us"));
  EXPECT_THROW((void)Rate::parse("2147483648/2097153us"), InvalidArgument);
}

}  // namespace
}  // namespace airlock
