#include "airlock/name.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "airlock/error.hpp"
#include "base/random.hpp"

namespace airlock {
namespace {

std::string message_for(std::string_view name) {
  try {
    const GateName legal(name);
    return "legal: " + legal.text();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

class GoodName : public ::testing::TestWithParam<std::string> {};

TEST_P(GoodName, IsKeptAsItIs) { EXPECT_EQ(GateName(GetParam()).view(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Forms, GoodName,
                         ::testing::Values("a", "Z", "0", "-", ".", "..", ":", "_", "legacy-erp",
                                           "a/b", "group.1:x/name_2", "::/--",
                                           std::string(200, 'x'),
                                           std::string(99, 'x') + '/' + std::string(100, 'y')));

class BadName : public ::testing::TestWithParam<std::string> {};

TEST_P(BadName, IsRefused) { EXPECT_THROW(GateName{GetParam()}, InvalidArgument); }

INSTANTIATE_TEST_SUITE_P(Forms, BadName,
                         ::testing::Values("", std::string(201, 'x'), std::string(456, 'x'), "a\n",
                                           "\na", std::string("a\0", 2), std::string("\0", 1),
                                           std::string("a\0b", 3), "{a}", "a{", "a b", " a", "a ",
                                           "\t", "caf\xc3\xa9", "\xff", "\x80", "\x7f", "a/b/c",
                                           "a//b", "/a", "a/", "/", "//", "a\\b", "a*", "a?", "a~b",
                                           "a,b", "a@b", "a=b", "a&b", "a%20", "$(x)", "'", "\""));

TEST(GateName, EveryByteIsEitherLegalOrRefused) {
  int legal = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name{'a', static_cast<char>(byte), 'b'};
    if (message_for(name).starts_with("legal: ")) ++legal;
  }
  EXPECT_EQ(legal, 26 + 26 + 10 + 4 + 1);
}

TEST(GateName, AMessageNamesTheValueAndTheRule) {
  EXPECT_EQ(message_for("erp\n"),
            "gate name \"erp\\x0a\": only A-Z a-z 0-9 _ . : - are legal, byte 3 is \"\\x0a\"");
  EXPECT_EQ(message_for(""), "gate name \"\": 1 to 200 bytes are needed, it has 0");
  EXPECT_EQ(message_for(std::string(300, 'x')),
            "gate name \"" + std::string(40, 'x') + "...\": 1 to 200 bytes are needed, it has 300");
  EXPECT_EQ(message_for("a/b/c"),
            "gate name \"a/b/c\": at most one '/', with a group before and a name after it");
}

TEST(GateName, TheGroupIsBeforeTheSlashOrEverything) {
  EXPECT_EQ(GateName("tenant/orders").group(), "tenant");
  EXPECT_EQ(GateName("orders").group(), "orders");
}

TEST(GateName, CopiesAreEqualAndOrderedAsTheirTexts) {
  const GateName a("a");
  GateName copy(a);
  EXPECT_EQ(copy, a);
  copy = GateName("b/c");
  EXPECT_EQ(copy.view(), "b/c");
  EXPECT_LT(a, copy);
}

TEST(KeyedName, AShortLegalKeyStaysReadable) {
  EXPECT_EQ(gate_name("order", "4711").view(), "order:4711");
  EXPECT_EQ(gate_name("shop/order", "a.b-c_d").view(), "shop/order:a.b-c_d");
  EXPECT_EQ(gate_name("order", std::string(64, 'k')).view(), "order:" + std::string(64, 'k'));
}

TEST(KeyedName, AnyOtherKeyBecomesADigest) {
  EXPECT_EQ(gate_name("order", "").view(),
            "order:-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::vector<std::string> keys = {"a b",
                                         "a:b",
                                         "a/b",
                                         "-a",
                                         "\n",
                                         "caf\xc3\xa9",
                                         std::string(65, 'k'),
                                         std::string(10'000, 'k')};
  for (const std::string& key : keys) {
    EXPECT_TRUE(gate_name("order", key).view().starts_with("order:-")) << key;
    EXPECT_EQ(gate_name("order", key).view().size(), 71U) << key;
  }
}

TEST(KeyedName, WhetherAPrefixFitsDoesNotDependOnTheKey) {
  const std::string longest(134, 'p');
  EXPECT_EQ(gate_name(longest, "a b").view().size(), GateName::kMaxSize);
  EXPECT_NO_THROW((void)gate_name(longest, std::string(64, 'k')));
  EXPECT_THROW((void)gate_name(longest + 'p', "k"), InvalidArgument);
  EXPECT_THROW((void)gate_name(longest + 'p', "a b"), InvalidArgument);
  for (const char* prefix : {"", "a b", "a/b/c", "a/", "/a", "a\n"}) {
    EXPECT_THROW((void)gate_name(prefix, "k"), InvalidArgument) << prefix;
  }
}

class Names {
 public:
  void add(const std::string& prefix, const std::string& key) {
    const auto [entry, is_new] =
        owners_.try_emplace(gate_name(prefix, key).text(), std::pair(prefix, key));
    ASSERT_TRUE(is_new || entry->second == std::pair(prefix, key))
        << entry->first << " names (" << prefix << ", " << key << ") and (" << entry->second.first
        << ", " << entry->second.second << ")";
  }

  [[nodiscard]] std::size_t size() const { return owners_.size(); }

 private:
  std::map<std::string, std::pair<std::string, std::string>> owners_;
};

std::string random_text(std::string_view characters, std::size_t min, std::size_t max) {
  std::string text(min + base::random64() % (max - min + 1), '\0');
  for (char& byte : text) byte = characters[base::random64() % characters.size()];
  return text;
}

TEST(KeyedName, DifferentPairsHaveDifferentNames) {
  Names names;
  for (int i = 0; i < 100'000; ++i) {
    names.add(random_text("ab:-", 1, 4), random_text("ab:-/\n", 0, 4));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(names.size(), 10'000U);
}

TEST(KeyedName, KeysMadeToLookLikeOtherNamesDoNot) {
  Names names;
  const std::string digest = gate_name("a", "a b").text().substr(2);
  const std::vector<std::string> prefixes = {"a", "a:b", "a:-", "a:", ":a", "a:" + digest, "a/b"};
  const std::vector<std::string> keys = {"c",
                                         "b:c",
                                         "",
                                         "-",
                                         digest,
                                         digest.substr(1),
                                         "b:" + digest,
                                         "a b",
                                         "/c",
                                         "-" + digest,
                                         std::string("\0", 1),
                                         std::string("\0\0", 2),
                                         std::string(64, 'a'),
                                         std::string(65, 'a')};
  for (const std::string& prefix : prefixes) {
    for (const std::string& key : keys) names.add(prefix, key);
  }
  EXPECT_EQ(names.size(), prefixes.size() * keys.size());
}

}  // namespace
}  // namespace airlock
