#include "airlock/pass.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "airlock/testing.hpp"
#include "base/clock.hpp"
#include "pass/keys.hpp"
#include "pass/pass_text.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

constexpr Instant kNow(1'767'225'600'000'000);
constexpr PassContext kAtNow{.now = kNow};

const std::string kSecret = "0123456789abcdef0123456789abcdef";

Keyring keys(const std::string& kid = "k1", const std::string& secret = kSecret) {
  return Keyring::of({{.kid = kid, .secret = secret}});
}

Token example() {
  return {.store = 0x00000000deadbeef,
          .gate = "tenant/orders:4711",
          .visitor = {.high = 0x0123456789abcdef, .low = 0xfedcba9876543210},
          .fence = 1'767'225'600'000'001};
}

const GateName& gate() {
  static const GateName kGate = example().gate;
  return kGate;
}

PassContext at(Instant now) { return {.now = now}; }
PassContext bound_to(std::string_view bytes, Instant now = kNow) {
  return {.bound = bytes, .now = now};
}

// "valid", or why not.
template <typename Checked>
std::string verdict(const Checked& checked) {
  const auto* fault = std::get_if<PassFault>(&checked);
  return fault != nullptr ? to_text(*fault) : "valid";
}

std::string check(const Keyring& keyring, std::string_view text,
                  const PassContext& context = kAtNow) {
  return verdict(keyring.check_pass(text, gate(), context));
}

// A text with a right MAC, whatever its body is.
std::string with_mac(const std::string& body, passes::Kind kind = passes::Kind::pass) {
  return passes::write_text(body, PurposeKeys(kSecret).of(kind).authenticate({body}));
}

TEST(Pass, SaysWhatWasSigned) {
  const std::string text = keys().sign_pass(example(), 30s, kAtNow, 2s);
  const auto checked = keys().check_pass(text, gate(), kAtNow);
  ASSERT_EQ(verdict(checked), "valid");
  const auto& pass = std::get<Pass>(checked);
  EXPECT_EQ(pass.gate(), example().gate);
  EXPECT_EQ(pass.visitor(), example().visitor);
  EXPECT_EQ(pass.fence(), example().fence);
  EXPECT_EQ(pass.store(), example().store);
  EXPECT_EQ(pass.issued(), kNow);
  EXPECT_EQ(pass.expires(), kNow + 28s);
}

TEST(Capability, SaysWhatWasSigned) {
  const std::string text = keys().sign_capability(example(), 30s, kAtNow);
  const auto checked = keys().check_capability(text, gate(), kAtNow);
  ASSERT_EQ(verdict(checked), "valid");
  const auto& capability = std::get<Capability>(checked);
  EXPECT_EQ(capability.token(), example());
  EXPECT_EQ(capability.issued(), kNow);
  EXPECT_EQ(capability.expires(), kNow + 30s);
}

// The digits are from Python's hmac, which shows that another client can write the text.
TEST(Pass, TheTextIsAPromise) {
  EXPECT_EQ(keys().sign_pass(example(), 31s, kAtNow),
            "airlock2~p~k1~1767225600000000~1767225630000000~00000000dead"
            "beef~0123456789abcdeffedcba9876543210~1767225600000001~tenan"
            "t/orders:4711~P6qO5AdSrglThqbCC_TwNSFnuhOwMkjqJLhVks2gQjY");
  EXPECT_EQ(keys().sign_pass(example(), 31s, bound_to("session 7")),
            "airlock2~p~k1~1767225600000000~1767225630000000~00000000dead"
            "beef~0123456789abcdeffedcba9876543210~1767225600000001~tenan"
            "t/orders:4711~Ozcktli4PSaIoUx6asYhFzuFGZllGh-UZK6lzj11l_k");
  EXPECT_EQ(keys().sign_capability(example(), 30s, kAtNow),
            "airlock2~c~k1~1767225600000000~1767225630000000~00000000dead"
            "beef~0123456789abcdeffedcba9876543210~1767225600000001~tenan"
            "t/orders:4711~vUxPOD_lbtAdumKs2egPBqqZcM8WPEQ6ozd0layfTyc");
}

TEST(Pass, NobodyMakesOneButAKeyring) {
  EXPECT_FALSE((std::is_constructible_v<Pass, Token, Instant, Instant>));
  EXPECT_FALSE(std::is_default_constructible_v<Pass>);
  EXPECT_FALSE((std::is_constructible_v<Capability, Token, Instant, Instant>));
  EXPECT_FALSE(std::is_default_constructible_v<Capability>);
}

TEST(Pass, NoSingleByteCanBeChangedAddedOrRemoved) {
  const std::string good = keys().sign_pass(example(), 30s, kAtNow);
  ASSERT_EQ(check(keys(), good), "valid");
  for (std::size_t at = 0; at <= good.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string longer = good;
      longer.insert(at, 1, static_cast<char>(byte));
      ASSERT_NE(check(keys(), longer), "valid") << longer;
      if (at == good.size() || good[at] == static_cast<char>(byte)) continue;
      std::string changed = good;
      changed[at] = static_cast<char>(byte);
      ASSERT_NE(check(keys(), changed), "valid") << changed;
    }
    if (at == good.size()) continue;
    ASSERT_NE(check(keys(), std::string(good).erase(at, 1)), "valid");
    ASSERT_NE(check(keys(), good.substr(0, at)), "valid");
    ASSERT_NE(check(keys(), good.substr(at + 1)), "valid");
  }
}

// Each field that a stranger would like to change, in a form that is well written.
TEST(Pass, AWellWrittenChangeIsForged) {
  const std::string good = keys().sign_pass(example(), 30s, kAtNow);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(check(keys(), changed("1767225629000000", "1767225690000000")), "forged");
  EXPECT_EQ(check(keys(), changed("1767225600000000~", "1767225600000009~")), "forged");
  EXPECT_EQ(check(keys(), changed("deadbeef", "deadbeee")), "forged");
  EXPECT_EQ(check(keys(), changed("76543210", "76543211")), "forged");
  EXPECT_EQ(check(keys(), changed("1767225600000001", "1767225600000002")), "forged");
  EXPECT_EQ(check(keys(), changed("orders:4711", "orders:4712")), "forged");
}

TEST(Pass, NothingButTheWrittenFormIsReadEvenWithARightMac) {
  const std::string store = "00000000deadbeef";
  const std::string visitor = "0123456789abcdeffedcba9876543210";
  const auto body = [&](const std::string& times, const std::string& rest) {
    return "airlock2~p~k1~" + times + "~" + rest;
  };
  const std::string times = "1767225600000000~1767225630000000";
  const std::string rest = store + "~" + visitor + "~1~tenant/orders:4711";
  ASSERT_EQ(check(keys(), with_mac(body(times, rest))), "valid");
  for (const std::string& wrong :
       {"airlock1" + body(times, rest).substr(8),
        "airlock3" + body(times, rest).substr(8),
        "AIRLOCK2" + body(times, rest).substr(8),
        "airlock2~x~k1~" + times + "~" + rest,
        "airlock2~~k1~" + times + "~" + rest,
        "airlock2~pp~k1~" + times + "~" + rest,
        "airlock2~p~~" + times + "~" + rest,
        "airlock2~p~k 1~" + times + "~" + rest,
        "airlock2~p~" + std::string(33, 'k') + "~" + times + "~" + rest,
        body("01767225600000000~1767225630000000", rest),
        body("+1767225600000000~1767225630000000", rest),
        body("-1~1767225630000000", rest),
        body("~1767225630000000", rest),
        body("1767225600000000~", rest),
        body("1767225600000000~1767225599999999", rest),
        body("1767225600000000~9223372036854775808", rest),
        body(times + "~", rest),
        body(times, "deadbeef~" + visitor + "~1~tenant/orders:4711"),
        body(times, "00000000DEADBEEF~" + visitor + "~1~tenant/orders:4711"),
        body(times, store + "~" + visitor.substr(1) + "~1~tenant/orders:4711"),
        body(times, store + "~" + visitor + "~01~tenant/orders:4711"),
        body(times, store + "~" + visitor + "~18446744073709551616~tenant/orders:4711"),
        body(times, store + "~" + visitor + "~~tenant/orders:4711"),
        body(times, store + "~" + visitor + "~1~"),
        body(times, store + "~" + visitor + "~1~a b"),
        body(times, store + "~" + visitor + "~1~" + std::string(201, 'g')),
        body(times, rest + "~"),
        body(times, rest + std::string(1, '\0')),
        std::string("airlock2"),
        std::string("~~~~~~~~"),
        std::string()}) {
    EXPECT_EQ(check(keys(), with_mac(wrong)), "malformed") << wrong;
  }
  EXPECT_EQ(check(keys(), ""), "malformed");
  EXPECT_EQ(check(keys(), std::string(1'000'000, '~')), "malformed");
  EXPECT_EQ(check(keys(), example().text()), "malformed");
}

TEST(Pass, AMacOfAnotherSpellingIsRefused) {
  const std::string good = keys().sign_pass(example(), 30s, kAtNow);
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const std::size_t last = digits.find(good.back());
  ASSERT_EQ(last % 4, 0U);  // Two bits of the last digit carry nothing.
  for (std::size_t spare = 1; spare < 4; ++spare) {
    EXPECT_EQ(check(keys(), good.substr(0, good.size() - 1) + digits[last + spare]), "malformed");
  }
  EXPECT_EQ(check(keys(), good + "="), "malformed");
}

TEST(Pass, ExtremeValuesReadBack) {
  std::vector<Token> tokens(4, example());
  tokens[0].fence = 0;
  tokens[1].fence = std::numeric_limits<Fence>::max();
  tokens[2].store = std::numeric_limits<StoreId>::max();
  tokens[2].visitor = {.high = std::numeric_limits<std::uint64_t>::max(),
                       .low = std::numeric_limits<std::uint64_t>::max()};
  tokens[3] = {.store = 0, .gate = std::string(200, 'g'), .visitor = {}, .fence = 0};
  const std::string kid(32, 'z');
  for (const Token& token : tokens) {
    for (const Instant now : {Instant(0), Instant(1), kNow, kForever - 1us}) {
      const Keyring keyring = keys(kid);
      const std::string text = keyring.sign_capability(token, kForever, at(now));
      const auto checked = keyring.check_capability(text, token.gate, at(now));
      ASSERT_EQ(verdict(checked), "valid") << text;
      EXPECT_EQ(std::get<Capability>(checked).token(), token);
      EXPECT_EQ(std::get<Capability>(checked).issued(), now);
      EXPECT_EQ(std::get<Capability>(checked).expires(), kForever);
    }
  }
}

TEST(Pass, IsNoCapabilityAndNoCapabilityIsAPass) {
  const std::string pass = keys().sign_pass(example(), 30s, kAtNow);
  const std::string capability = keys().sign_capability(example(), 30s, kAtNow);
  EXPECT_EQ(verdict(keys().check_capability(pass, gate(), kAtNow)), "other_kind");
  EXPECT_EQ(check(keys(), capability), "other_kind");

  const auto renamed = [](std::string text, char kind) {
    text[std::string_view("airlock2~").size()] = kind;
    return text;
  };
  EXPECT_EQ(verdict(keys().check_capability(renamed(pass, 'c'), gate(), kAtNow)), "forged");
  EXPECT_EQ(check(keys(), renamed(capability, 'p')), "forged");
}

TEST(Pass, EachPurposeHasAKeyOfItsOwn) {
  const std::string body =
      "airlock2~c~k1~1767225600000000~1767225630000000~00000000deadbeef~"
      "0123456789abcdeffedcba9876543210~1~tenant/orders:4711";
  EXPECT_EQ(verdict(keys().check_capability(with_mac(body, passes::Kind::pass), gate(), kAtNow)),
            "forged");
  EXPECT_EQ(
      verdict(keys().check_capability(with_mac(body, passes::Kind::capability), gate(), kAtNow)),
      "valid");
}

TEST(Pass, IsForTheGateThatTheCheckerGuards) {
  const std::string text = keys().sign_pass(example(), 30s, kAtNow);
  for (const char* other : {"tenant/orders:4712", "orders:4711", "tenant/orders:471", "tenant"}) {
    EXPECT_EQ(verdict(keys().check_pass(text, other, kAtNow)), "other_gate") << other;
  }
}

TEST(Pass, IsForTheSameBoundBytes) {
  const std::string text = keys().sign_pass(example(), 30s, bound_to("session 7"));
  EXPECT_EQ(check(keys(), text, bound_to("session 7")), "valid");
  EXPECT_EQ(text.find("session"), std::string::npos);
  for (const std::string& other :
       {std::string("session 8"), std::string("session "), std::string("session 7 "),
        std::string("\0session 7", 10), std::string("session 7\0", 10), std::string()}) {
    EXPECT_EQ(check(keys(), text, bound_to(other)), "forged") << other;
  }
  EXPECT_EQ(check(keys(), text), "forged");
}

TEST(Pass, ThatIsBoundToNothingIsForNoBoundBytes) {
  const std::string text = keys().sign_pass(example(), 30s, kAtNow);
  EXPECT_EQ(check(keys(), text, bound_to("session 7")), "forged");
  EXPECT_EQ(check(keys(), text, bound_to("")), "forged");
  EXPECT_THROW((void)keys().sign_pass(example(), 30s, bound_to("")), InvalidArgument);
  EXPECT_THROW((void)keys().sign_capability(example(), 30s, bound_to("")), InvalidArgument);
}

// What is moved from the body to the bound bytes gives another message.
TEST(Pass, BoundBytesCannotTakeThePlaceOfAPartOfTheText) {
  const std::string text = keys().sign_pass(example(), 30s, bound_to("11"));
  std::string longer = text;
  longer.insert(longer.rfind('~'), "11");
  EXPECT_EQ(verdict(keys().check_pass(longer, "tenant/orders:471111", kAtNow)), "forged");
  std::string shorter = text;
  shorter.erase(shorter.rfind('~') - 2, 2);
  EXPECT_EQ(verdict(keys().check_pass(shorter, "tenant/orders:47", bound_to("1111"))), "forged");
}

TEST(Pass, EndsWhenTheLeaseEndsLessTheSkewOfTheClocks) {
  const std::string text = keys().sign_pass(example(), 30s, kAtNow);
  EXPECT_EQ(check(keys(), text, at(kNow + 29s - 1us)), "valid");
  EXPECT_EQ(check(keys(), text, at(kNow + 29s)), "expired");
  EXPECT_EQ(check(keys(), text, at(kForever)), "expired");

  const std::string exact = keys().sign_pass(example(), 30s, kAtNow, 0s);
  EXPECT_EQ(check(keys(), exact, at(kNow + 30s - 1us)), "valid");
  EXPECT_EQ(check(keys(), exact, at(kNow + 30s)), "expired");
}

TEST(Pass, OfALeaseThatIsAllButOverHasExpired) {
  for (const Duration left : {Duration(-5s), Duration(0), Duration(999ms), Duration(1s)}) {
    EXPECT_EQ(check(keys(), keys().sign_pass(example(), left, kAtNow)), "expired");
  }
  EXPECT_EQ(check(keys(), keys().sign_pass(example(), 1s + 1us, kAtNow)), "valid");
  EXPECT_EQ(verdict(keys().check_capability(keys().sign_capability(example(), -1s, kAtNow), gate(),
                                            kAtNow)),
            "expired");
  EXPECT_THROW((void)keys().sign_pass(example(), 30s, kAtNow, -1us), InvalidArgument);
}

TEST(Pass, AClockThatIsASecondBehindIsForgiven) {
  const std::string text = keys().sign_pass(example(), 30s, kAtNow);
  EXPECT_EQ(check(keys(), text, at(kNow - 1s)), "valid");
  EXPECT_EQ(check(keys(), text, at(kNow - 1s - 1us)), "not_yet_valid");
  EXPECT_EQ(check(keys(), text, at(Instant(0))), "not_yet_valid");
  EXPECT_EQ(check(keys(), text, at(Duration::min())), "not_yet_valid");
}

TEST(Pass, IsNotSignedBefore1970) {
  EXPECT_THROW((void)keys().sign_pass(example(), 30s, at(Instant(-1))), InvalidArgument);
}

TEST(Pass, TheSystemsWallClockDecidesUnlessAnotherIsPassedIn) {
  const std::string text = keys().sign_pass(example(), 1h);
  const auto checked = keys().check_pass(text, gate());
  ASSERT_EQ(verdict(checked), "valid");
  const Duration age = Clock::system().wall() - std::get<Pass>(checked).issued();
  EXPECT_GE(age, 0s);
  EXPECT_LT(age, 10min);
  EXPECT_EQ(check(keys(), text), "not_yet_valid");  // kNow is in the past.
}

// The reason that is given is the first: what an attacker chose is not looked at behind it.
TEST(Pass, ReasonsComeInTheOrderOfTheChecks) {
  const Keyring others = keys("k1", std::string(32, 'x'));
  const std::string expired = keys().sign_pass(example(), 0s, kAtNow);
  EXPECT_EQ(verdict(others.check_pass(expired, "other", kAtNow)), "forged");
  EXPECT_EQ(verdict(keys("k2").check_pass(expired, "other", kAtNow)), "unknown_key");
  EXPECT_EQ(verdict(keys("k2").check_capability(expired, "other", kAtNow)), "other_kind");
  EXPECT_EQ(verdict(keys().check_pass(expired, "other", kAtNow)), "expired");
}

TEST(Pass, KeysRotate) {
  const PassKey a{.kid = "a", .secret = std::string(32, 'a')};
  const PassKey b{.kid = "b", .secret = std::string(32, 'b')};
  const Keyring before = Keyring::of({a});
  const Keyring announced = Keyring::of({a, b});
  const Keyring changed = Keyring::of({b, a});
  const Keyring after = Keyring::of({b});

  const std::string old = before.sign_pass(example(), 30s, kAtNow);
  EXPECT_EQ(announced.sign_pass(example(), 30s, kAtNow), old);
  const std::string fresh = changed.sign_pass(example(), 30s, kAtNow);
  EXPECT_NE(fresh, old);
  EXPECT_EQ(after.sign_pass(example(), 30s, kAtNow), fresh);
  for (const Keyring& keyring : {announced, changed}) {
    EXPECT_EQ(check(keyring, old), "valid");
    EXPECT_EQ(check(keyring, fresh), "valid");
  }
  EXPECT_EQ(check(before, fresh), "unknown_key");
  EXPECT_EQ(check(after, old), "unknown_key");
}

TEST(Pass, AKeyOfTheRingDoesNotSpeakForAnother) {
  const Keyring ring = Keyring::of(
      {{.kid = "a", .secret = std::string(32, 'a')}, {.kid = "b", .secret = std::string(32, 'b')}});
  std::string text = ring.sign_pass(example(), 30s, kAtNow);
  text[std::string_view("airlock2~p~").size()] = 'b';
  EXPECT_EQ(check(ring, text), "forged");
}

TEST(Pass, AnErrorOfSigningShowsNoPartOfTheToken) {
  for (const char* wrong : {"", "-1"}) {
    try {
      (void)keys().sign_pass(example(), 30s, {.bound = wrong, .now = Instant(-1)});
      FAIL();
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("deadbeef")));
      EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("airlock2")));
    }
  }
}

// A pass and a store in one clock: the pass ends before the lease, also for a short ttl.
TEST(Pass, NeverOutlivesTheLease) {
  testing::ManualClock clock;
  const Store store = testing::memory_store(clock);
  const VisitorId visitor = VisitorId::random();
  const Answer answer =
      store.admit({.gate = "shop", .visitor = visitor, .permits = Permits{1, 1, 5s}});
  const auto& granted = std::get<Granted>(answer);
  const auto now = [&] { return PassContext{.now = clock.wall()}; };
  const std::string text = keys().sign_pass(granted.token, granted.expires_in, now());
  const std::string capability = keys().sign_capability(granted.token, 1h, now());
  bool was_valid = false;
  for (int step = 0; step < 60; ++step, clock.advance(100ms)) {
    const bool is_valid = verdict(keys().check_pass(text, "shop", now())) == "valid";
    was_valid = was_valid || is_valid;
    ASSERT_TRUE(store.holds(granted.token) || !is_valid) << step;
  }
  EXPECT_TRUE(was_valid);

  // The capability is still signed, and the store says what it is worth.
  const auto checked = keys().check_capability(capability, "shop", now());
  ASSERT_EQ(verdict(checked), "valid");
  EXPECT_FALSE(store.release(std::get<Capability>(checked).token()));
}

TEST(Capability, ReleasesAtItsStoreOnly) {
  testing::ManualClock clock;
  const Store store = testing::memory_store(clock);
  const Answer answer =
      store.admit({.gate = "shop", .visitor = VisitorId::random(), .permits = Permits{1, 1, 5s}});
  const std::string text = keys().sign_capability(std::get<Granted>(answer).token, 1h, kAtNow);
  const auto checked = keys().check_capability(text, "shop", kAtNow);
  ASSERT_EQ(verdict(checked), "valid");
  const Token token = std::get<Capability>(checked).token();
  EXPECT_THROW((void)testing::memory_store(clock).release(token), InvalidArgument);
  EXPECT_EQ(store.renew(token, 10s), Renewal::renewed);
  EXPECT_TRUE(store.release(token));
  EXPECT_FALSE(store.release(token));
}

}  // namespace
}  // namespace airlock
