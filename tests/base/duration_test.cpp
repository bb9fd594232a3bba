#include "airlock/duration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "airlock/error.hpp"
#include "base/random.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

struct Pair {
  const char* text;
  Duration duration;
};

class DurationText : public ::testing::TestWithParam<Pair> {};

TEST_P(DurationText, IsReadAndWrittenTheSame) {
  EXPECT_EQ(parse_duration(GetParam().text), GetParam().duration);
  EXPECT_EQ(to_text(GetParam().duration), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Canonical, DurationText,
    ::testing::Values(Pair{"0s", 0s}, Pair{"1us", 1us}, Pair{"250us", 250us}, Pair{"1ms", 1ms},
                      Pair{"1.5ms", 1500us}, Pair{"200ms", 200ms}, Pair{"999.999ms", 999'999us},
                      Pair{"1s", 1s}, Pair{"1.5s", 1500ms}, Pair{"1.000001s", 1'000'001us},
                      Pair{"59s", 59s}, Pair{"1m", 60s}, Pair{"1m30s", 90s},
                      Pair{"1m0.5s", 60'500ms}, Pair{"2m", 2min}, Pair{"1h30m", 90min},
                      Pair{"1h0.000001s", 3'600'000'001us}, Pair{"1d", 24h}, Pair{"1d1s", 86'401s},
                      Pair{"365d", 24h * 365}, Pair{"forever", kForever},
                      Pair{"106751991d4h54.775806s", kForever - 1us}));

class DurationInput : public ::testing::TestWithParam<Pair> {};

TEST_P(DurationInput, IsAlsoRead) {
  EXPECT_EQ(parse_duration(GetParam().text), GetParam().duration);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, DurationInput,
    ::testing::Values(Pair{"0", 0s}, Pair{"5", 5s}, Pair{"0.5", 500ms},
                      Pair{"10.000001", 10'000'001us}, Pair{"90m", 90min}, Pair{"1.5h", 90min},
                      Pair{"0.1d", 144min}, Pair{"007s", 7s}, Pair{"0.5000000000s", 500ms},
                      Pair{"1h0m0s", 1h},
                      Pair{"1d2h3m4s5ms6us", 24h + 2h + 3min + 4s + 5ms + 6us}));

class BadDuration : public ::testing::TestWithParam<std::string> {};

TEST_P(BadDuration, IsRefusedByName) {
  try {
    (void)parse_duration(GetParam());
    FAIL() << "was read as " << to_text(parse_duration(GetParam()));
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).rfind("duration \"", 0), 0U) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, BadDuration,
                         ::testing::Values("", " ", "s", "-1s", "+1s", "1 s", " 1s", "1s ", "1s\n",
                                           std::string("1s\0", 3), "1x", "1S", "1sec", ".5s", "5.s",
                                           "1.5.5s", "1h30", "30m1h", "1s1s", "1.5h30m", "1e3s",
                                           "0x10s", "1,5s", "0.5us", "0.0000001s", "1.0001ms",
                                           "Forever", "forever1s", "1forever", "inf", "nan",
                                           "9223372036854775808us", "9223372036854775807us",
                                           "106751992d", "106751991d4h54.775807s",
                                           "99999999999999999999s", "9223372036855s"));

TEST(Duration, NegativeLengthsAreShownThoughNeverRead) {
  EXPECT_EQ(to_text(-1500ms), "-1.5s");
  EXPECT_EQ(to_text(Duration::min()), "-106751991d4h54.775808s");
}

TEST(Duration, AnyLengthIsReadBack) {
  for (int i = 0; i < 20'000; ++i) {
    const int shift = static_cast<int>(base::random64() % 63) + 1;
    const Duration duration(static_cast<std::int64_t>(base::random64() >> shift));
    ASSERT_EQ(parse_duration(to_text(duration)), duration) << to_text(duration);
  }
}

TEST(Duration, SumsStayAtForever) {
  EXPECT_EQ(saturating_add(kForever, 1us), kForever);
  EXPECT_EQ(saturating_add(1us, kForever), kForever);
  EXPECT_EQ(saturating_add(kForever, kForever), kForever);
  EXPECT_EQ(saturating_add(kForever - 1us, 1us), kForever);
  EXPECT_EQ(saturating_add(1s, 2s), 3s);
}

TEST(Duration, SumsOfNegativeLengthsAreHeldToo) {
  EXPECT_EQ(saturating_add(1s, -2s), -1s);
  EXPECT_EQ(saturating_add(-1s, -2s), -3s);
  EXPECT_EQ(saturating_add(Duration::min(), -1us), Duration::min());
  EXPECT_EQ(saturating_add(-1us, Duration::min()), Duration::min());
  EXPECT_EQ(saturating_add(Duration::min(), Duration::min()), Duration::min());
  EXPECT_EQ(saturating_add(kForever, Duration::min()), kForever) << "for ever is for ever";
  EXPECT_EQ(saturating_add(kForever, -1us), kForever);
}

TEST(Duration, DifferencesAreHeld) {
  EXPECT_EQ(saturating_sub(1s, 2s), -1s);
  EXPECT_EQ(saturating_sub(kForever, 1s), kForever);
  EXPECT_EQ(saturating_sub(1s, Duration::min()), kForever);
  EXPECT_EQ(saturating_sub(Duration::min(), 1us), Duration::min());
  EXPECT_EQ(saturating_sub(-2us, kForever), Duration::min());
}

TEST(Duration, AnyLengthOfTheStandardHasOne) {
  using std::chrono::duration;
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  EXPECT_EQ(saturating_ceil(1ns), 1us);
  EXPECT_EQ(saturating_ceil(1000ns), 1us);
  EXPECT_EQ(saturating_ceil(1001ns), 2us);
  EXPECT_EQ(saturating_ceil(-1ns), 0us);
  EXPECT_EQ(saturating_ceil(-1001ns), -1us);
  EXPECT_EQ(saturating_ceil(nanoseconds::max()), std::chrono::ceil<Duration>(nanoseconds::max()));
  EXPECT_EQ(saturating_ceil(kForever - 1us), kForever - 1us);
  EXPECT_EQ(saturating_ceil(seconds::max()), kForever);
  EXPECT_EQ(saturating_ceil(seconds::min()), Duration::min());
  EXPECT_EQ(saturating_ceil(std::chrono::hours::max()), kForever);
  EXPECT_EQ(saturating_ceil(duration<double>(0.0000005)), 1us);
  EXPECT_EQ(saturating_ceil(duration<double>(1e300)), kForever);
  EXPECT_EQ(saturating_ceil(duration<double>(-1e300)), Duration::min());
  EXPECT_EQ(saturating_ceil(duration<double>(std::nan(""))), Duration(0));
}

}  // namespace
}  // namespace airlock
