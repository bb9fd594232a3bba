#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "airlock/error.hpp"
#include "airlock/pass.hpp"
#include "base/hmac.hpp"
#include "fuzz.hpp"
#include "pass/keys.hpp"
#include "pass/pass_text.hpp"

namespace {

using namespace airlock;  // NOLINT(google-build-using-namespace): a program of one page
using fuzz::require;

const std::string kSecret(32, 's');

const Keyring& keys() {
  static const Keyring kKeys = Keyring::of({{.kid = "k1", .secret = kSecret}});
  return kKeys;
}

// With a right MAC: what comes behind the MAC must hold as well. What is valid is written again
// byte for byte.
void check_signed(std::string_view body) {
  const auto kind = body.starts_with("airlock2~c~") ? passes::Kind::capability : passes::Kind::pass;
  static const PurposeKeys kPurposes(kSecret);
  const std::string text =
      passes::write_text(std::string(body), kPurposes.of(kind).authenticate({body}));
  const auto read = passes::read_text(text);
  if (!read || read->statement.kid != "k1") return;
  const auto& [store, gate, visitor, fence, place] = read->statement.token;
  const PassContext at_issue{.now = read->statement.issued};
  const bool is_live = read->statement.expires > read->statement.issued;
  if (kind == passes::Kind::pass) {
    const auto checked = keys().check_pass(text, gate, at_issue);
    require(std::holds_alternative<Pass>(checked) == is_live);
    if (!is_live) return;
    const auto& pass = std::get<Pass>(checked);
    const Duration left = pass.expires() == kForever ? kForever : pass.expires() - pass.issued();
    require(pass.visitor() == visitor && pass.fence() == fence && pass.store() == store);
    require(keys().sign_pass(read->statement.token, left, at_issue, Duration(0)) == text);
  } else {
    const auto checked = keys().check_capability(text, gate, at_issue);
    require(std::holds_alternative<Capability>(checked) == is_live);
    if (is_live) require(std::get<Capability>(checked).token() == read->statement.token);
  }
  require(std::holds_alternative<PassFault>(keys().check_pass(text, "elsewhere/x", at_issue)) ||
          gate == "elsewhere/x");
}

// Without: nobody writes one that is valid.
void check_unsigned(std::string_view text) {
  const auto checked = keys().check_pass(text, "shop", {.bound = "b"});
  require(std::holds_alternative<PassFault>(checked));
}

// What a refusal may say; digits are left out.
constexpr std::array kRules = {
    "keyring: no key; Keyring::new_line() makes a line with one",
    "keyring: line : does not end with a newline; is it complete?",
    "keyring: line : a kid, a space and a secret are needed",
    "keyring: line : after one space only the secret, baseurl without padding",
    "keyring: line : a kid has  to  bytes of A-Z a-z - _ . -",
    "keyring: line : a secret has at least  bytes, this one ",
    "keyring: line : an earlier key has the same kid",
};

// A file of keys is read or refused, and the refusal shows nothing of it.
void check_keyring(std::string_view lines) {
  try {
    const Keyring keyring = Keyring::parse(lines);
    const std::string text =
        keyring.sign_pass({.store = 1, .gate = "shop", .visitor = {}, .fence = 1},
                          std::chrono::seconds(9), {.now = Instant(0)});
    require(std::holds_alternative<Pass>(keyring.check_pass(text, "shop", {.now = Instant(0)})));
  } catch (const InvalidArgument& error) {
    std::string rule = error.what();
    std::erase_if(rule, [](char byte) { return byte >= '0' && byte <= '9'; });
    require(std::find(kRules.begin(), kRules.end(), rule) != kRules.end());
  }
}

}  // namespace

// The first byte says what the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  switch (input.byte()) {
    case 's':
      check_signed(input.rest());
      break;
    case 'k':
      check_keyring(input.rest());
      break;
    default:
      check_unsigned(input.rest());
  }
  return 0;
}
