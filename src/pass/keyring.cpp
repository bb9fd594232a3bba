#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "airlock/error.hpp"
#include "airlock/pass.hpp"
#include "base/base64url.hpp"
#include "base/random.hpp"
#include "pass/keys.hpp"

namespace airlock {
namespace {

constexpr std::size_t kMinSecretSize = 32;
constexpr std::size_t kMaxFileSize = 1 << 20;
constexpr const char* kKidRule = "a kid has 1 to 32 bytes of A-Z a-z 0-9 _ . -";

// Never with a word of the key: where kid and secret have changed places, it would be the secret.
[[noreturn]] void fail(const std::string& what) { throw InvalidArgument("keyring: " + what); }

std::string secret_for(passes::Kind kind, std::string_view secret) {
  const std::string purpose = std::string(passes::kVersion) + '~' + static_cast<char>(kind);
  const base::Digest key = base::HmacKey(secret).authenticate({purpose});
  return {key.begin(), key.end()};
}

PassKey parse_line(std::string_view line, const std::string& where) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) fail(where + "a kid, a space and a secret are needed");
  auto secret = base::parse_base64url(line.substr(space + 1));
  if (!secret) fail(where + "after one space only the secret, base64url without padding");
  return {.kid = std::string(line.substr(0, space)), .secret = std::move(*secret)};
}

}  // namespace

PurposeKeys::PurposeKeys(std::string_view secret)
    : pass(secret_for(passes::Kind::pass, secret)),
      capability(secret_for(passes::Kind::capability, secret)) {}

const base::HmacKey& PurposeKeys::of(passes::Kind kind) const noexcept {
  return kind == passes::Kind::pass ? pass : capability;
}

void Keyring::Keys::add(const PassKey& key, const std::string& where) {
  if (!passes::is_kid(key.kid)) fail(where + kKidRule);
  if (key.secret.size() < kMinSecretSize) {
    fail(where + "a secret has at least 32 bytes, this one " + std::to_string(key.secret.size()));
  }
  if (by_kid.empty()) signing = key.kid;
  if (!by_kid.try_emplace(key.kid, key.secret).second) {
    fail(where + "an earlier key has the same kid");
  }
}

void Keyring::Keys::add_lines(std::string_view lines, const std::string& file) {
  for (int number = 1; !lines.empty(); ++number) {
    const std::string where = file + "line " + std::to_string(number) + ": ";
    const std::size_t end = lines.find('\n');
    if (end == std::string_view::npos) fail(where + "does not end with a newline; is it complete?");
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    if (!line.empty() && line.front() != '#') add(parse_line(line, where), where);
  }
  if (by_kid.empty()) fail(file + "no key; Keyring::new_line() makes a line with one");
}

Keyring Keyring::of(const std::vector<PassKey>& keys) {
  if (keys.empty()) fail("no key");
  auto added = std::make_shared<Keys>();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    added->add(keys[i], "key " + std::to_string(i + 1) + ": ");
  }
  return Keyring(std::move(added));
}

Keyring Keyring::parse(std::string_view lines) {
  auto added = std::make_shared<Keys>();
  added->add_lines(lines, "");
  return Keyring(std::move(added));
}

Keyring Keyring::load(const std::string& path) {
  std::ifstream file(path);
  std::string lines(kMaxFileSize + 1, '\0');
  if (file.is_open()) file.read(lines.data(), static_cast<std::streamsize>(lines.size()));
  if (!file.is_open() || file.bad()) fail(path + ": " + std::generic_category().message(errno));
  if (!file.eof()) fail(path + ": larger than 1 MB");
  lines.resize(static_cast<std::size_t>(file.gcount()));
  auto added = std::make_shared<Keys>();
  added->add_lines(lines, path + ", ");
  return Keyring(std::move(added));
}

std::string Keyring::new_line(std::string_view kid) {
  if (!passes::is_kid(kid)) fail(kKidRule);
  std::array<std::byte, kMinSecretSize> secret;
  base::random_bytes(secret);
  const std::string_view bytes(reinterpret_cast<const char*>(secret.data()), secret.size());
  return std::string(kid) + ' ' + base::base64url(bytes) + '\n';
}

}  // namespace airlock
