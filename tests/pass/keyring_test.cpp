#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/pass.hpp"
#include "base/base64url.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSecretText = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I";  // 32 bytes.
const std::string kOtherText = "b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXItb3Q";

std::string signed_by(const Keyring& keys) {
  return keys.sign_pass({.store = 1, .gate = "g", .visitor = {1, 2}, .fence = 3}, 30s,
                        {.now = Instant(0)});
}

std::string complaint(const std::string& lines) {
  try {
    (void)Keyring::parse(lines);
    return "none";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(Keyring, AFileAndBytesAreTheSameKeys) {
  const Keyring read = Keyring::parse("# since May\n\na " + kSecretText + "\n");
  const Keyring given = Keyring::of({{.kid = "a", .secret = *base::parse_base64url(kSecretText)}});
  EXPECT_EQ(signed_by(read), signed_by(given));
}

TEST(Keyring, TheFirstLineSigns) {
  const std::string a = "a " + kSecretText + "\n";
  const std::string b = "b " + kOtherText + "\n";
  EXPECT_EQ(signed_by(Keyring::parse(a + b)), signed_by(Keyring::parse(a)));
  EXPECT_EQ(signed_by(Keyring::parse("#\n" + b + "#\n" + a)), signed_by(Keyring::parse(b)));
}

TEST(Keyring, AWrongLineIsNamedAndNeverShown) {
  const std::string good = "a " + kSecretText + "\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"secret", "line 1: does not end with a newline"},
      {good + "b " + kOtherText, "line 2: does not end with a newline"},
      {good + "secret\n", "line 2: a kid, a space and a secret"},
      {good + "b\tsecret\n", "line 2: a kid, a space and a secret"},
      {good + "b  " + kOtherText + "\n", "line 2: after one space only the secret"},
      {good + "b " + kOtherText + " \n", "line 2: after one space only the secret"},
      {good + "b " + kOtherText + "\r\n", "line 2: after one space only the secret"},
      {good + "b " + kOtherText + "=\n", "line 2: after one space only the secret"},
      {good + "b " + kOtherText.substr(0, 42) + "R\n", "line 2: after one space only the secret"},
      {good + "b " + kOtherText.substr(0, 40) + "\n",
       "line 2: a secret has at least 32 bytes, this one 30"},
      {good + "b \n", "line 2: a secret has at least 32 bytes, this one 0"},
      {good + " " + kOtherText + "\n", "line 2: a kid has 1 to 32 bytes"},
      {good + "b~ " + kOtherText + "\n", "line 2: a kid has 1 to 32 bytes"},
      {good + kOtherText + " " + kOtherText + "\n", "line 2: a kid has 1 to 32 bytes"},
      {good + "#\n\n" + good, "line 4: an earlier key has the same kid"},
      {"", "no key"},
      {"# nothing\n", "no key"},
  };
  for (const auto& [lines, why] : wrong) {
    const std::string said = complaint(lines);
    EXPECT_THAT(said, HasSubstr("keyring: ")) << lines;
    EXPECT_THAT(said, HasSubstr(why)) << lines;
    EXPECT_THAT(said, Not(HasSubstr(kSecretText.substr(0, 8))));
    EXPECT_THAT(said, Not(HasSubstr(kOtherText.substr(0, 8))));
  }
  EXPECT_EQ(complaint(good), "none");
}

TEST(Keyring, KeysFromBytesKeepTheSameRules) {
  const std::string secret(32, 's');
  EXPECT_THROW((void)Keyring::of({}), InvalidArgument);
  EXPECT_THROW((void)Keyring::of({{.kid = "", .secret = secret}}), InvalidArgument);
  EXPECT_THROW((void)Keyring::of({{.kid = "a/b", .secret = secret}}), InvalidArgument);
  EXPECT_THROW((void)Keyring::of({{.kid = std::string(33, 'a'), .secret = secret}}),
               InvalidArgument);
  EXPECT_THROW((void)Keyring::of({{.kid = "a", .secret = secret.substr(1)}}), InvalidArgument);
  try {
    const Keyring twice =
        Keyring::of({{.kid = "a", .secret = secret}, {.kid = "a", .secret = secret}});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("key 2: an earlier key has the same kid"));
  }
}

TEST(Keyring, NewLinesAreGoodAndNeverTheSame) {
  std::set<std::string> lines;
  for (int i = 0; i < 1'000; ++i) lines.insert(Keyring::new_line("2026-05.a_B"));
  EXPECT_EQ(lines.size(), 1'000U);
  for (const std::string& line : lines) {
    EXPECT_EQ(line.size(), 11 + 1 + 43 + 1);
    ASSERT_EQ(complaint(line), "none");
  }
  EXPECT_THROW((void)Keyring::new_line("a b"), InvalidArgument);
  EXPECT_THROW((void)Keyring::new_line(""), InvalidArgument);
}

TEST(Keyring, IsNeverEmptyAlsoAfterAMove) {
  Keyring keys = Keyring::parse("a " + kSecretText + "\n");
  const Keyring other = std::move(keys);
  EXPECT_EQ(signed_by(keys), signed_by(other));  // NOLINT(bugprone-use-after-move): what is shown
  EXPECT_FALSE(std::is_default_constructible_v<Keyring>);
}

TEST(Keyring, IsReadAgainByItsUser) {
  const TempDir dir;
  const std::string path = dir.path() + "/keys";
  const auto write = [&](const std::string& lines) { std::ofstream(path) << lines; };
  write("a " + kSecretText + "\n");
  Keyring keys = Keyring::load(path);
  const std::string old = signed_by(keys);
  write("b " + kOtherText + "\na " + kSecretText + "\n");
  keys = Keyring::load(path);
  EXPECT_NE(signed_by(keys), old);
  EXPECT_TRUE(std::holds_alternative<Pass>(keys.check_pass(old, "g", {.now = Instant(0)})));
}

TEST(Keyring, AFileThatCannotBeReadIsNamed) {
  const TempDir dir;
  const auto load = [](const std::string& path) -> std::string {
    try {
      (void)Keyring::load(path);
      return "none";
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  };
  const std::string path = dir.path() + "/keys";
  EXPECT_EQ(load(path), "keyring: " + path + ": No such file or directory");
  EXPECT_EQ(load(dir.path()), "keyring: " + dir.path() + ": Is a directory");
  std::ofstream(path) << "a Zg\n";
  EXPECT_THAT(load(path), HasSubstr(path + ", line 1: a secret has at least 32 bytes"));
  std::ofstream(path) << "";
  EXPECT_THAT(load(path), HasSubstr(path + ", no key"));
  std::ofstream(path) << std::string((1 << 20) + 1, '\n');
  EXPECT_THAT(load(path), HasSubstr("larger than 1 MB"));
}

}  // namespace
}  // namespace airlock
