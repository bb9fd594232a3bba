#include "store/uri.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "airlock/error.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

std::string message_for(std::string_view uri) {
  try {
    (void)Uri::parse(uri);
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(Uri, DefaultsAreThoseOfTheTable) {
  const Uri uri = Uri::parse("memory:");
  EXPECT_EQ(uri.store(), StoreKind::memory);
  EXPECT_EQ(uri.scheme(), "memory");
  EXPECT_EQ(uri.rest(), "");
  EXPECT_EQ(uri.duration("timeout"), 1s);
  EXPECT_EQ(uri.count("shards"), 16U);
}

TEST(Uri, OptionsFollowAQuestionMark) {
  const Uri uri = Uri::parse("memory:?shards=256&timeout=200ms");
  EXPECT_EQ(uri.count("shards"), 256U);
  EXPECT_EQ(uri.duration("timeout"), 200ms);
  EXPECT_EQ(message_for("memory:?"), "");
}

TEST(Uri, SizesHaveBinaryUnits) {
  EXPECT_EQ(Uri::parse("shm:?size=4096").size("size"), 4096U);
  EXPECT_EQ(Uri::parse("shm:?size=64K").size("size"), 65'536U);
  EXPECT_EQ(Uri::parse("shm:?size=16M").size("size"), 16U << 20);
  EXPECT_EQ(Uri::parse("shm:?size=1G").size("size"), 1U << 30);
  EXPECT_EQ(Uri::parse("shm:").size("size"), 0U);
}

TEST(Uri, TextsAreDecodedAndMayHoldAnyByte) {
  const Uri uri = Uri::parse("shm:orders?dir=/var/lib%2Fa%26b%3D%40%25=c");
  EXPECT_EQ(uri.store(), StoreKind::shm);
  EXPECT_EQ(uri.rest(), "orders");
  EXPECT_EQ(uri.text("dir"), "/var/lib/a&b=@%=c");
  EXPECT_EQ(uri.text("mode"), "0600");
}

TEST(Uri, EveryFormOfRedisIsOneStore) {
  for (const char* text : {"redis://host", "rediss://u:p@host:1/0", "redis+unix:///run/redis.sock",
                           "redis+sentinel://a,b/name", "redis+cluster://a,b"}) {
    EXPECT_EQ(Uri::parse(text).store(), StoreKind::redis) << text;
  }
  EXPECT_EQ(Uri::parse("rediss://u:p@host:1/0?pool=4").rest(), "//u:p@host:1/0");
  EXPECT_TRUE(Uri::parse("redis://host?allow_eviction=1").flag("allow_eviction"));
  EXPECT_FALSE(Uri::parse("redis://host").flag("allow_eviction"));
}

TEST(Uri, AMessageNamesWhatIsWrong) {
  EXPECT_EQ(message_for("rediz://u:p@host").substr(0, 41),
            "store URI: scheme \"rediz\" is not known; u");
  EXPECT_EQ(message_for("memory:?shard=1"),
            "store URI: option \"shard\" is not known to memory:, which has timeout, shards");
  EXPECT_EQ(message_for("memory:?shards=0"), "store URI: option shards=\"0\": 1 to 256 is needed");
  EXPECT_EQ(message_for("memory:?timeout=0"),
            "store URI: option timeout=\"0\": 1us to 365d is needed");
  EXPECT_EQ(message_for("memory:?shards"), "store URI: option shards has no =value");
  EXPECT_EQ(message_for("memory:?shards=1&shards=1"), "store URI: option shards is given twice");
  EXPECT_EQ(message_for("shm:?dir=%4"), "store URI: option dir: two hex digits follow a %");
}

class BadUri : public ::testing::TestWithParam<const char*> {};

TEST_P(BadUri, IsRefused) { EXPECT_NE(message_for(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(
    Forms, BadUri,
    ::testing::Values("", ":", "memory", "Memory:", " memory:", "mem:", "/dev/shm", "?shards=1",
                      "memory:?shards=", "memory:?shards=-1", "memory:?shards=+1",
                      "memory:?shards=257", "memory:?shards=1.5", "memory:?shards=16 ",
                      "memory:?shards=99999999999999999999", "memory:?=1", "memory:?&shards=1",
                      "memory:?shards=1&&timeout=1s", "memory:?timeout=forever",
                      "memory:?timeout=-1s", "memory:?timeout=x", "memory:?size=1G",
                      "memory:?shards=1?timeout=1s", "shm:?shards=1", "shm:?size=1T", "shm:?size=K",
                      "shm:?size=9999999999999G", "shm:?size=0", "shm:?dir=%zz", "shm:?dir=%",
                      "shm:?dir=%+1", "redis://h?allow_eviction=yes",
                      "redis://h?allow_eviction=2"));

class UriWithSecret : public ::testing::TestWithParam<const char*> {};

TEST_P(UriWithSecret, IsRefusedWithoutShowingIt) {
  const std::string message = message_for(GetParam());
  EXPECT_NE(message, "");
  EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  EXPECT_EQ(message.find("hidden"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Forms, UriWithSecret,
                         ::testing::Values("rediz://hidden:secret@host", "hidden:secret@host",
                                           "secret@host", "redis://hidden:secret@host?unknown=1",
                                           "redis://hidden:a?secret@host", "secret",
                                           "redis://hidden:a?pool=secret@host/0?pool=3",
                                           "redis://hidden:secret@host?pool=0",
                                           "redis+secret@host://"));

TEST(UriOptions, EachIsListedOnceWithItsMeaning) {
  std::set<std::string_view> names;
  for (const UriOption& option : uri_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(option.meaning.ends_with('.')) << option.name;
    EXPECT_NE(option.stores, 0) << option.name;
  }
}

}  // namespace
}  // namespace airlock
