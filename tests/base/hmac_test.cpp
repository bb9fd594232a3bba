#include "base/hmac.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/hex.hpp"

namespace airlock::base {
namespace {

std::string hex_of(std::string_view key, std::string_view message) {
  return hex(HmacKey(key).authenticate({message}));
}

std::string repeated(std::size_t count, int byte) {
  return std::string(count, static_cast<char>(byte));
}

std::string counting(int first, int last) {
  std::string bytes;
  for (int byte = first; byte <= last; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

TEST(Hmac, AgreesWithRfc4231) {
  EXPECT_EQ(hex_of(repeated(20, 0x0b), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex_of("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex_of(repeated(20, 0xaa), repeated(50, 0xdd)),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(hex_of(counting(1, 25), repeated(50, 0xcd)),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(hex_of(repeated(20, 0x0c), "Test With Truncation").substr(0, 32),
            "a3b6167473100ee06e0c796c2955552b");
  EXPECT_EQ(hex_of(repeated(131, 0xaa), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hex_of(repeated(131, 0xaa),
                   "This is a test using a larger than block-size key and a larger than block-size "
                   "data. The key needs to be hashed before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Hmac, AKeyAsLongAsABlockIsNotHashed) {
  // From Python's hmac.
  EXPECT_EQ(hex_of(repeated(64, 'k'), "m"),
            "3b7a8d453e76edb519238a515105a57508d0f169f480ebeee120a9e7803289fa");
  EXPECT_EQ(hex_of(repeated(65, 'k'), "m"),
            "c2d7d4c2256ddb097409ec0c67e1d58fa1a007fc6932cac0d892a525d08af7cc");
}

TEST(Hmac, PiecesAreOneMessage) {
  const HmacKey key("key");
  const std::string message = counting(0, 255);
  const Digest whole = key.authenticate({message});
  for (std::size_t at = 0; at <= message.size(); ++at) {
    const std::string_view text = message;
    ASSERT_EQ(key.authenticate({text.substr(0, at), text.substr(at)}), whole) << at;
    ASSERT_EQ(key.authenticate({text.substr(0, at), "", text.substr(at, 3),
                                text.substr(std::min(at + 3, text.size()))}),
              whole)
        << at;
  }
}

TEST(Hmac, AnyBitMakesAnotherDigest) {
  const Digest digest = HmacKey("key").authenticate({"message"});
  EXPECT_TRUE(is_same_digest(digest, digest));
  for (std::size_t bit = 0; bit < 8 * digest.size(); ++bit) {
    Digest other = digest;
    other[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    ASSERT_FALSE(is_same_digest(digest, other)) << bit;
  }
}

}  // namespace
}  // namespace airlock::base
