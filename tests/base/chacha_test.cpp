#include "base/chacha.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hex.hpp"

namespace airlock::base {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) append_hex(out, std::to_integer<std::uint64_t>(byte), 2);
  return out;
}

// RFC 8439, appendix A.1, vectors 1 and 2: key and nonce zero, blocks 0 and 1.
TEST(ChachaTest, FollowsTheRfc) {
  std::array<std::byte, 4 * kChachaBlock> out{};
  chacha20({}, out);
  EXPECT_EQ(hex(std::span(out).subspan(0, 64)),
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
  EXPECT_EQ(hex(std::span(out).subspan(64, 64)),
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

// The same appendix, vector 4: key ff at its second byte, block 2.
TEST(ChachaTest, UsesTheKey) {
  std::array<std::byte, 4 * kChachaBlock> out{};
  chacha20({0x0000ff00}, out);
  EXPECT_EQ(hex(std::span(out).subspan(128, 64)),
            "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
            "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096");
}

}  // namespace
}  // namespace airlock::base
