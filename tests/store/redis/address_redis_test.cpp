#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/address.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/redirect_reply.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/slot.hpp"

namespace airlock::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Address parse(std::string_view uri) { return Address::parse(Uri::parse(uri)); }

std::string message_for(std::string_view uri) {
  try {
    return open_store(uri) ? "" : "null";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(RedisAddress, IsAHostWithDefaults) {
  const Address address = parse("redis://example.org");
  EXPECT_EQ(address.host, "example.org");
  EXPECT_EQ(address.port, 6379);
  EXPECT_EQ(address.db, 0U);
  EXPECT_FALSE(address.tls);
  EXPECT_EQ(address.text(), "example.org:6379");
}

TEST(RedisAddress, HasUserPasswordPortAndDatabase) {
  const Address address = parse("rediss://ann:p%40ss%3Aword@example.org:7000/3?ca=/etc/ca.pem");
  EXPECT_EQ(address.user, "ann");
  EXPECT_EQ(address.password, "p@ss:word");
  EXPECT_EQ(address.port, 7000);
  EXPECT_EQ(address.db, 3U);
  EXPECT_TRUE(address.tls);
  EXPECT_EQ(address.ca, "/etc/ca.pem");
  EXPECT_EQ(address.text(), "example.org:7000");
}

TEST(RedisAddress, MayBeOfSixBytesOrSixteen) {
  EXPECT_EQ(parse("redis://127.0.0.1:1").host, "127.0.0.1");
  const Address address = parse("redis://[::1]:7001/2");
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.port, 7001);
  EXPECT_EQ(address.text(), "[::1]:7001");
}

TEST(RedisAddress, MayBeAUnixSocket) {
  const Address address = parse("redis+unix://:secret@/run/redis.sock?db=2");
  EXPECT_EQ(address.path, "/run/redis.sock");
  EXPECT_EQ(address.password, "secret");
  EXPECT_EQ(address.db, 2U);
  EXPECT_EQ(address.text(), "/run/redis.sock");
}

TEST(RedisAddress, TakesThePasswordFromAFileOrTheEnvironment) {
  const auto file =
      std::filesystem::temp_directory_path() / ("airlock-password-" + std::to_string(getpid()));
  std::ofstream(file) << "from a file\nnot this\n";
  EXPECT_EQ(parse("redis://h?user=ann&password_file=" + file.string()).password, "from a file");
  std::filesystem::remove(file);
  EXPECT_THAT(message_for("redis://h?password_file=" + file.string()), HasSubstr("first line"));
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody else is here
  setenv("AIRLOCK_TEST_PASSWORD", "from the environment", 1);
  EXPECT_EQ(parse("redis://h?password_env=AIRLOCK_TEST_PASSWORD").password, "from the environment");
  unsetenv("AIRLOCK_TEST_PASSWORD");
  // NOLINTEND(concurrency-mt-unsafe)
  EXPECT_THAT(message_for("redis://h?password_env=AIRLOCK_TEST_PASSWORD"), HasSubstr("variable"));
}

TEST(RedisAddress, NamesWhatIsWrongAndNeverThePassword) {
  for (const char* uri :
       {"redis:", "redis://", "redis://ann:secret@", "redis://ann:secret@h:port",
        "redis://ann:secret@h:70000", "redis://ann:secret@h/x", "redis://ann:secret@[::1",
        "redis://secret@h", "redis+unix://ann:secret@run/redis.sock", "redis://ann:%zsecret@h",
        "redis://ann:secret@h?ca=/etc/ca.pem", "rediss://ann:secret@h?cert=/etc/cert.pem",
        "redis://ann:secret@h?prefix=a/b", "redis://ann:secret@h?prefix=%7Bx%7D"}) {
    EXPECT_NE(message_for(uri), "") << uri;
    EXPECT_THAT(message_for(uri), Not(HasSubstr("secret"))) << uri;
  }
}

// Without AUTH a connection has the rights of the user `default`, whoever was named.
TEST(RedisAddress, HasNoUserWithoutAPassword) {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody else is here
  setenv("AIRLOCK_TEST_PASSWORD", "", 1);
  for (const char* uri :
       {"redis://h?user=ann", "redis://ann:@h", "redis+unix:///run/redis.sock?user=ann",
        "redis+cluster://h?user=ann", "redis+sentinel://h/main?user=ann",
        "redis+sentinel://h/main?sentinel_user=ann",
        "redis://h?password_env=AIRLOCK_TEST_PASSWORD"}) {
    EXPECT_THAT(message_for(uri), HasSubstr("password")) << uri;
  }
  unsetenv("AIRLOCK_TEST_PASSWORD");
  // NOLINTEND(concurrency-mt-unsafe)
}

TEST(RedisAddress, WithoutAnAtShowsNothingOfWhatMayBeAPassword) {
  for (const char* uri :
       {"redis://ann:secret", "redis://ann:secret/0", "redis+cluster://ann:secret",
        "redis+sentinel://ann:secret/main", "redis+unix://ann:secret/path", "redis://:secret",
        "redis:ann:secret", "redis://host/secret"}) {
    EXPECT_THAT(message_for(uri), HasSubstr("the form is")) << uri;
    EXPECT_THAT(message_for(uri), Not(HasSubstr("secret"))) << uri;
  }
}

TEST(RedisSeeds, AreSentinelsAndThePrimaryHasCredentialsOfItsOwn) {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody else is here
  setenv("AIRLOCK_TEST_PASSWORD", "b", 1);
  const Seeds seeds =
      Seeds::parse(Uri::parse("redis+sentinel://ann:a@one,two:7,[::1]:8/main/3?sentinel_user=bob"
                              "&sentinel_password_env=AIRLOCK_TEST_PASSWORD"));
  unsetenv("AIRLOCK_TEST_PASSWORD");
  // NOLINTEND(concurrency-mt-unsafe)
  ASSERT_EQ(seeds.servers.size(), 3U);
  EXPECT_EQ(seeds.servers[0].text(), "one:26379");
  EXPECT_EQ(seeds.servers[1].text(), "two:7");
  EXPECT_EQ(seeds.servers[2].text(), "[::1]:8");
  EXPECT_EQ(seeds.servers[2].user, "bob");
  EXPECT_EQ(seeds.servers[2].password, "b");
  EXPECT_EQ(seeds.servers[2].db, 0U);
  EXPECT_EQ(seeds.master, "main");
  EXPECT_EQ(seeds.server.user, "ann");
  EXPECT_EQ(seeds.server.password, "a");
  EXPECT_EQ(seeds.server.db, 3U);
  EXPECT_TRUE(seeds.server.primary_only);
}

TEST(RedisSeeds, AreNodesOfACluster) {
  const Seeds seeds = Seeds::parse(Uri::parse("redis+cluster://ann:a@one,two:7?tls=1&ca=/ca"));
  ASSERT_EQ(seeds.servers.size(), 2U);
  EXPECT_EQ(seeds.servers[0].text(), "one:6379");
  EXPECT_EQ(seeds.servers[1].text(), "two:7");
  EXPECT_EQ(seeds.servers[1].password, "a");
  EXPECT_TRUE(seeds.servers[1].tls);
  EXPECT_EQ(seeds.master, "");
  EXPECT_TRUE(seeds.server.tls);
}

TEST(RedisSeeds, NameWhatIsWrongAndNeverThePassword) {
  for (const char* uri :
       {"redis+sentinel://ann:secret@a,b", "redis+sentinel://ann:secret@a,b/",
        "redis+sentinel://ann:secret@/main", "redis+sentinel://ann:secret@a,,b/main",
        "redis+sentinel://ann:secret@a/main/x", "redis+cluster://ann:secret@",
        "redis+cluster://ann:secret@a/1", "redis+cluster://ann:secret@a?db=1",
        "redis+cluster://ann:secret@a:0x1", "redis+cluster://ann:secret@a?ca=/ca"}) {
    EXPECT_NE(message_for(uri), "") << uri;
    EXPECT_THAT(message_for(uri), Not(HasSubstr("secret"))) << uri;
  }
}

TEST(RedisSlot, IsWhatAClusterSays) {
  EXPECT_EQ(slot_of("123456789"), 0x31C3 % kHashSlots);
  EXPECT_EQ(slot_of("foo"), 12'182);
  EXPECT_EQ(slot_of(""), 0);
}

Reply error_reply(const std::string& text) {
  ReplyReader reader;
  reader.feed("-" + text + "\r\n");
  Reply reply;
  (void)reader.next(reply);
  return reply;
}

TEST(RedisRedirection, SaysWhereTo) {
  const auto moved = RedirectReply::parse(error_reply("MOVED 3999 127.0.0.1:6381"));
  ASSERT_TRUE(moved);
  EXPECT_TRUE(moved->for_good);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->host, "127.0.0.1");
  EXPECT_EQ(moved->port, 6381);
  const auto ask = RedirectReply::parse(error_reply("ASK 16383 ::1:6381"));
  ASSERT_TRUE(ask);
  EXPECT_FALSE(ask->for_good);
  EXPECT_EQ(ask->host, "::1");
  EXPECT_EQ(RedirectReply::parse(error_reply("MOVED 1 :6381"))->host, "");
  for (const char* text : {"MOVED 16384 h:1", "MOVED 1 h", "MOVED 1", "MOVED x h:1", "MOVED 1 h:x",
                           "MOVEDX 1 h:1", "ERR MOVED 1 h:1", "ASK 1 h:70000"}) {
    EXPECT_FALSE(RedirectReply::parse(error_reply(text))) << text;
  }
}

TEST(RedisFailure, SaysWhoCanHelp) {
  using Kind = StoreError::Kind;
  const auto kind = [](std::string_view reply) { return refusal_of(reply).kind(); };
  EXPECT_EQ(kind("READONLY You can't write against a read only replica."), Kind::unavailable);
  EXPECT_EQ(kind("LOADING Redis is loading the dataset in memory"), Kind::unavailable);
  EXPECT_EQ(kind("NOREPLICAS Not enough good replicas to write."), Kind::unavailable);
  EXPECT_EQ(kind("BUSY Redis is busy running a script."), Kind::busy);
  EXPECT_EQ(kind("OOM command not allowed when used memory > 'maxmemory'."), Kind::no_room);
  EXPECT_EQ(kind("MISCONF Redis is configured to save RDB snapshots"), Kind::incompatible);
  EXPECT_EQ(kind("NOAUTH Authentication required."), Kind::incompatible);
  EXPECT_EQ(kind("WRONGPASS invalid username-password pair"), Kind::incompatible);
  EXPECT_EQ(kind("NOPERM this user has no permissions"), Kind::incompatible);
  EXPECT_EQ(kind("WRONGTYPE Operation against a key holding the wrong kind of value script: 1, on "
                 "@user_script:1."),
            Kind::incompatible);
  EXPECT_EQ(kind("ERR max number of clients reached"), Kind::no_room);
  EXPECT_EQ(kind("ERR Error running script (call to f_1): @user_script:1: OOM command not allowed"),
            Kind::no_room);
  EXPECT_EQ(kind("ERR This instance has cluster support disabled"), Kind::incompatible);
  EXPECT_THAT(refusal_of("ERR unknown command 'AUTH', with args beginning with: 'secret'").what(),
              Not(HasSubstr("secret")));
  EXPECT_EQ(refusal_of("ERR something new").outcome(), StoreError::Outcome::unknown);
  EXPECT_EQ(refusal_of("BUSY Redis is busy").outcome(), StoreError::Outcome::nothing_happened);
}

}  // namespace
}  // namespace airlock::redis
