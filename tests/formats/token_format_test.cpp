#include <gtest/gtest.h>

#include <string>

#include "airlock/token.hpp"
#include "formats/support/golden.hpp"

// The text of tokens, which travels between builds.

namespace airlock::formats {
namespace {

int version_of(const std::string& text) {
  return std::stoi(text.substr(std::string("airlock").size()));
}

TEST(TokenFormat, ChangesWithItsVersionOnly) {
  const VisitorId visitor{.high = 0x0123456789abcdef, .low = 0xfedcba9876543210};
  std::string text;
  for (const std::string_view gate : {"erp", "a.b_c:d-e/F0"}) {
    const Token token{.store = 0x1122334455667788,
                      .gate = gate,
                      .visitor = visitor,
                      .fence = 1'767'225'600'000'001};
    text += token.text() + "\n";
  }
  expect_golden({.name = "token",
                 .version = version_of(text),
                 .version_is_in = "the number after \"airlock\" in src/base/token.cpp"},
                text);
}

}  // namespace
}  // namespace airlock::formats
