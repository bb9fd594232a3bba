#include <gtest/gtest.h>

#include <string>

#include "airlock/pass.hpp"
#include "formats/support/golden.hpp"

// The text of signed passes, which travels between builds and waits in browsers.

namespace airlock::formats {
namespace {

int version_of(const std::string& text) {
  return std::stoi(text.substr(std::string("airlock").size()));
}

TEST(PassFormat, ChangesWithItsVersionOnly) {
  const Keyring keys =
      Keyring::of({{.kid = "2026-05", .secret = "0123456789abcdef0123456789abcdef"}});
  const PassContext here{.now = Instant(1'767'225'600'000'000)};
  const PassContext bound{.bound = "session 7", .now = here.now};
  std::string text;
  for (const std::string_view gate : {"erp", "a.b_c:d-e/F0"}) {
    const Token token{.store = 0x1122334455667788,
                      .gate = gate,
                      .visitor = {.high = 0x0123456789abcdef, .low = 0xfedcba9876543210},
                      .fence = 1'767'225'600'000'001};
    text += keys.sign_pass(token, std::chrono::seconds(30), here) + "\n";
    text += keys.sign_pass(token, std::chrono::seconds(30), bound) + "\n";
    text += keys.sign_capability(token, std::chrono::seconds(30), here) + "\n";
  }
  expect_golden({.name = "pass",
                 .version = version_of(text),
                 .version_is_in = "kVersion of src/pass/pass_text.hpp"},
                text);
}

}  // namespace
}  // namespace airlock::formats
