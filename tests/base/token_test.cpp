#include "airlock/token.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/error.hpp"
#include "base/crc32c.hpp"
#include "base/hex.hpp"

namespace airlock {
namespace {

Token example() {
  return {.store = 0x00000000deadbeef,
          .gate = "tenant/orders:4711",
          .visitor = {.high = 0x0123456789abcdef, .low = 0xfedcba9876543210},
          .fence = 1'767'225'600'000'001};
}

bool is_read(std::string_view text) {
  try {
    (void)Token::parse(text);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

std::string with_check(const std::string& body) {
  std::string text = body + '~';
  base::append_hex(text, base::crc32c(body), 8);
  return text;
}

TEST(Token, TheTextIsAPromise) {
  EXPECT_EQ(example().text(),
            with_check("airlock1~00000000deadbeef~0123456789abcdeffedcba9876543210~"
                       "1767225600000001~tenant/orders:4711"));
}

TEST(Token, EveryTokenReadsBack) {
  std::vector<Token> tokens = {example(), example(), example(), example()};
  tokens[1].fence = 0;
  tokens[2].fence = std::numeric_limits<Fence>::max();
  tokens[3].store = std::numeric_limits<StoreId>::max();
  tokens[3].gate = std::string(200, 'g');
  for (const Token& token : tokens) EXPECT_EQ(Token::parse(token.text()), token);
}

TEST(Token, NoSingleByteCanBeChangedAddedOrRemoved) {
  const std::string good = example().text();
  for (std::size_t at = 0; at <= good.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string longer = good;
      longer.insert(at, 1, static_cast<char>(byte));
      ASSERT_FALSE(is_read(longer)) << longer;
      if (at == good.size() || good[at] == static_cast<char>(byte)) continue;
      std::string changed = good;
      changed[at] = static_cast<char>(byte);
      ASSERT_FALSE(is_read(changed)) << changed;
    }
    if (at == good.size()) continue;
    ASSERT_FALSE(is_read(std::string(good).erase(at, 1)));
    ASSERT_FALSE(is_read(good.substr(0, at)));
    ASSERT_FALSE(is_read(good.substr(at + 1)));
  }
}

TEST(Token, NothingButTheWrittenFormIsReadEvenWithARightCheck) {
  const std::string store = "00000000deadbeef";
  const std::string visitor = "0123456789abcdeffedcba9876543210";
  ASSERT_TRUE(is_read(with_check("airlock1~" + store + "~" + visitor + "~1~gate")));
  for (const std::string& body :
       {"airlock2~" + store + "~" + visitor + "~1~gate",
        "AIRLOCK1~" + store + "~" + visitor + "~1~gate",
        "airlock1~" + store + "~" + visitor + "~01~gate",
        "airlock1~" + store + "~" + visitor + "~+1~gate",
        "airlock1~" + store + "~" + visitor + "~-1~gate",
        "airlock1~" + store + "~" + visitor + "~~gate",
        "airlock1~" + store + "~" + visitor + "~ 1~gate",
        "airlock1~" + store + "~" + visitor + "~18446744073709551616~gate",
        "airlock1~" + store + "~" + visitor + "~1~",
        "airlock1~" + store + "~" + visitor + "~1~a b",
        "airlock1~" + store + "~" + visitor + "~1~" + std::string(201, 'g'),
        "airlock1~" + store + "~" + visitor + "~1~gate~",
        "airlock1~deadbeef~" + visitor + "~1~gate",
        "airlock1~00000000DEADBEEF~" + visitor + "~1~gate",
        "airlock1~~" + visitor + "~1~gate",
        "airlock1~" + store + "~~1~gate",
        "airlock1~" + store + "~" + visitor.substr(1) + "~1~gate",
        std::string("airlock1"),
        std::string("~~~~"),
        std::string()}) {
    EXPECT_FALSE(is_read(with_check(body))) << body;
  }
  EXPECT_FALSE(is_read(""));
  EXPECT_FALSE(is_read(std::string(100'000, '~')));
}

TEST(Token, AnUpperCaseCheckIsNotTheWrittenForm) {
  for (Token token = example();; ++token.fence) {
    std::string text = token.text();
    const std::size_t letter = text.find_first_of("abcdef", text.size() - 8);
    if (letter == std::string::npos) continue;
    text[letter] = static_cast<char>(text[letter] - 'a' + 'A');
    EXPECT_FALSE(is_read(text));
    return;
  }
}

TEST(Token, AMessageNeverShowsTheToken) {
  const std::string body = "airlock1~00000000deadbeef~0123456789abcdeffedcba9876543210~1~";
  for (const std::string& text :
       {with_check(body + "secret gate"), with_check(body + ""), body + "secret~00000000",
        "xirlock1" + body.substr(8) + "secret~0"}) {
    try {
      (void)Token::parse(text);
      FAIL() << text;
    } catch (const InvalidArgument& error) {
      const std::string what = error.what();
      EXPECT_EQ(what.find("secret"), std::string::npos) << what;
      EXPECT_EQ(what.find("deadbeef"), std::string::npos) << what;
      EXPECT_EQ(what.find("0123"), std::string::npos) << what;
      EXPECT_EQ(what.rfind("token: ", 0), 0U) << what;
    }
  }
}

}  // namespace
}  // namespace airlock
