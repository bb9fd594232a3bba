#include "base/base64url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace airlock::base {
namespace {

TEST(Base64Url, AgreesWithRfc4648) {
  EXPECT_EQ(base64url(""), "");
  EXPECT_EQ(base64url("f"), "Zg");
  EXPECT_EQ(base64url("fo"), "Zm8");
  EXPECT_EQ(base64url("foo"), "Zm9v");
  EXPECT_EQ(base64url("foob"), "Zm9vYg");
  EXPECT_EQ(base64url("fooba"), "Zm9vYmE");
  EXPECT_EQ(base64url("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64url("\xfb\xff\xbf"), "-_-_");
}

TEST(Base64Url, EveryByteReadsBack) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes += static_cast<char>(byte);
    ASSERT_EQ(parse_base64url(base64url(bytes)), bytes);
  }
}

TEST(Base64Url, NothingButTheWrittenFormIsRead) {
  int read = 0;
  for (int code = 0; code < 256 * 256; ++code) {
    const std::string text = {static_cast<char>(code / 256), static_cast<char>(code % 256)};
    const auto bytes = parse_base64url(text);
    if (!bytes) continue;
    ASSERT_EQ(base64url(*bytes), text);
    ++read;
  }
  EXPECT_EQ(read, 256);  // Of 64 * 64 pairs of digits those without a bit that carries nothing.
  for (const char* text :
       {"Zg==", "Zg=", "Z", "Zh", "Zm9", "Zm9v\n", " Zm9v", "Zm9+", "Zm9/", "AAAAA"}) {
    EXPECT_FALSE(parse_base64url(text)) << text;
  }
}

}  // namespace
}  // namespace airlock::base
