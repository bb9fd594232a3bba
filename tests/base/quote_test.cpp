#include "base/quote.hpp"

#include <gtest/gtest.h>

namespace airlock::base {
namespace {

TEST(Quoted, ShowsEveryByteAndNoMoreThanForty) {
  EXPECT_EQ(base::quoted("plain"), "\"plain\"");
  EXPECT_EQ(base::quoted(""), "\"\"");
  EXPECT_EQ(base::quoted(std::string("\0\n\x7f\xff", 4)), "\"\\x00\\x0a\\x7f\\xff\"");
  EXPECT_EQ(base::quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(base::quoted(std::string(40, 'x')), '"' + std::string(40, 'x') + '"');
  EXPECT_EQ(base::quoted(std::string(41, 'x')), '"' + std::string(40, 'x') + "...\"");
}

TEST(IsPrintable, RefusesControlCharactersOnly) {
  EXPECT_TRUE(is_printable("caf\xc3\xa9 ~"));
  EXPECT_FALSE(is_printable("a\n"));
  EXPECT_FALSE(is_printable("\x1b[31m"));
  EXPECT_FALSE(is_printable("\x7f"));
  EXPECT_FALSE(is_printable(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace airlock::base
