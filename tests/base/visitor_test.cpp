#include <gtest/gtest.h>

#include <set>
#include <string>

#include "airlock/error.hpp"
#include "airlock/token.hpp"

namespace airlock {
namespace {

TEST(VisitorId, TheTextIs32HexDigitsAndReadsBack) {
  const VisitorId visitor{.high = 0x0123456789abcdef, .low = 0x00000000000000ff};
  EXPECT_EQ(visitor.text(), "0123456789abcdef00000000000000ff");
  EXPECT_EQ(VisitorId::parse(visitor.text()), visitor);
  const VisitorId random = VisitorId::random();
  EXPECT_EQ(VisitorId::parse(random.text()), random);
}

TEST(VisitorId, AnythingElseIsRefusedWithoutShowingIt) {
  const std::string good = "0123456789abcdef0123456789abcdef";
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "0", "g" + good.substr(1), "A" + good.substr(1),
        " " + good.substr(1), "-" + good.substr(1), good.substr(0, 31) + '\0',
        good.substr(0, 16) + "+" + good.substr(17), "0x" + good.substr(2)}) {
    try {
      (void)VisitorId::parse(bad);
      FAIL() << bad;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(std::string(error.what()), "visitor: 32 lower-case hex digits are needed");
    }
  }
}

TEST(VisitorId, TheSameNameIsTheSameVisitorEverywhere) {
  // The first 16 bytes of SHA-256("abc").
  EXPECT_EQ(VisitorId::named("abc").text(), "ba7816bf8f01cfea414140de5dae2223");
  EXPECT_NE(VisitorId::named("abc"), VisitorId::named("abd"));
}

TEST(VisitorId, RandomOnesDiffer) {
  std::set<VisitorId> seen;
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(seen.insert(VisitorId::random()).second);
}

}  // namespace
}  // namespace airlock
