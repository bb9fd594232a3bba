#include "support.hpp"

namespace airlock::c_test {
namespace {

TEST(CNames, TheInterfaceHasItsVersion) {
  EXPECT_EQ(airlock_abi(), std::uint32_t{AIRLOCK_ABI});
  EXPECT_EQ(std::string(airlock_version()), AIRLOCK_EXPECTED_VERSION);
}

TEST(CNames, ADurationIsParsed) {
  std::int64_t duration = 0;
  EXPECT_EQ(airlock_duration_parse(text("1h30m"), &duration, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(duration, std::int64_t{90} * 60 * AIRLOCK_SECOND);
  EXPECT_EQ(airlock_duration_parse(text("forever"), &duration, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(duration, AIRLOCK_FOREVER);
  Error error;
  EXPECT_EQ(airlock_duration_parse(text("soon"), &duration, &error), AIRLOCK_INVALID);
  EXPECT_EQ(error.status, AIRLOCK_INVALID);
  EXPECT_NE(std::string(error.text).find("soon"), std::string::npos) << error.text;
  EXPECT_EQ(duration, AIRLOCK_FOREVER);  // As it was.
}

TEST(CNames, ARateIsParsed) {
  airlock_rate rate{};
  EXPECT_EQ(airlock_rate_parse(text("100/s,burst=20"), &rate, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(rate.count, 100U);
  EXPECT_EQ(rate.burst, 20U);
  EXPECT_EQ(rate.period, AIRLOCK_SECOND);
  EXPECT_EQ(rate.algorithm, AIRLOCK_GCRA);
  EXPECT_EQ(airlock_rate_parse(text("5/1h,fixed"), &rate, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(rate.algorithm, AIRLOCK_FIXED_WINDOW);
  EXPECT_EQ(airlock_rate_parse(text("often"), &rate, nullptr), AIRLOCK_INVALID);
}

TEST(CNames, VisitorsAreRandomOrNamed) {
  airlock_visitor a{};
  airlock_visitor b{};
  EXPECT_EQ(airlock_visitor_random(&a, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_visitor_random(&b, nullptr), AIRLOCK_DONE);
  EXPECT_TRUE(a.high != b.high || a.low != b.low);
  EXPECT_EQ(airlock_visitor_named(text("alice"), &a, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(airlock_visitor_named(text("alice"), &b, nullptr), AIRLOCK_DONE);
  EXPECT_TRUE(a.high == b.high && a.low == b.low);
}

TEST(CNames, AGateNameIsMadeOfAnyBytes) {
  char name[AIRLOCK_NAME_SIZE];
  EXPECT_EQ(airlock_gate_name(text("tenant"), text("a"), name, nullptr), AIRLOCK_DONE);
  EXPECT_STREQ(name, "tenant:a");
  EXPECT_EQ(airlock_gate_name(text("tenant"), text(std::string_view("\0\xff", 2)), name, nullptr),
            AIRLOCK_DONE);
  EXPECT_EQ(std::string(name).substr(0, 8), "tenant:-");
  EXPECT_EQ(airlock_gate_name(text("no spaces"), text("a"), name, nullptr), AIRLOCK_INVALID);
}

TEST(CNames, AStorageKeyIsWrittenAsFarAsThereIsRoom) {
  auto key = sized<airlock_storage_key>();
  key.chat = 2;
  key.user = 3;
  char room[64] = {};
  std::size_t needed = 0;
  EXPECT_EQ(airlock_storage_key_text(&key, room, sizeof room, &needed, nullptr), AIRLOCK_DONE);
  const std::string plain(room, needed);
  EXPECT_EQ(plain.substr(0, 4), "fsm:");

  char little[4] = {'x', 'x', 'x', 'x'};
  EXPECT_EQ(airlock_storage_key_text(&key, little, 3, &needed, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(needed, plain.size());
  EXPECT_EQ(std::string(little, 4), "fsmx");
  EXPECT_EQ(airlock_storage_key_text(&key, nullptr, 0, &needed, nullptr), AIRLOCK_DONE);
  EXPECT_EQ(needed, plain.size());

  key.has_thread = 1;
  key.thread = 4;
  key.business_connection = text("b");
  key.with_business_connection = 1;
  key.with_bot = 1;
  key.destiny = text("other");
  key.with_destiny = 1;
  key.prefix = text("p");
  key.separator = text("/");
  EXPECT_EQ(airlock_storage_key_text(&key, room, sizeof room, &needed, nullptr), AIRLOCK_DONE);
  const std::string full(room, needed);
  EXPECT_EQ(full.substr(0, 2), "p/");
  EXPECT_NE(full.find("other"), std::string::npos) << full;

  key.separator = text("");
  EXPECT_EQ(airlock_storage_key_text(&key, room, sizeof room, &needed, nullptr), AIRLOCK_INVALID);
}

TEST(CNames, AReasonHasAText) {
  EXPECT_STREQ(airlock_reason_text(AIRLOCK_REASON_FULL), "full");
  EXPECT_STREQ(airlock_reason_text(AIRLOCK_REASON_NEVER), "never");
  EXPECT_STREQ(airlock_reason_text(6), "unknown");
  EXPECT_STREQ(airlock_reason_text(-1), "unknown");
}

}  // namespace
}  // namespace airlock::c_test
