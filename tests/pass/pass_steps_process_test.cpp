#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): raise is POSIX here
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "airlock/pass.hpp"
#include "base/base64url.hpp"
#include "base/hmac.hpp"
#include "store/support/child.hpp"

// Whether an attacker can learn from the time of a check how much of a guess is right, or something
// about the key: a process is led through it one instruction at a time, and the addresses of all
// instructions must be the same. Tables are read by public bytes only: src/base/digest.cpp has none
// that a key could choose from.

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

// Where the way of a child ends.
[[gnu::noinline]] void last_step() { asm volatile(""); }

using Steps = std::vector<std::uint64_t>;

// The addresses of the instructions that `work` takes when it is done again: the first time, memory
// is allocated and functions are looked up.
Steps steps_of(const std::function<void()>& work) {
  const Child child([&] {
    work();
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    work();
    last_step();
  });
  const auto end = reinterpret_cast<std::uint64_t>(&last_step);
  Steps steps;
  int status = 0;
  waitpid(child.pid(), &status, 0);
  ptrace(PTRACE_SETOPTIONS, child.pid(), nullptr, PTRACE_O_EXITKILL);
  while (WIFSTOPPED(status)) {
    const auto at = static_cast<std::uint64_t>(
        ptrace(PTRACE_PEEKUSER, child.pid(), offsetof(user_regs_struct, rip), nullptr));
    if (at == end) return steps;
    steps.push_back(at);
    ptrace(PTRACE_SINGLESTEP, child.pid(), nullptr, nullptr);
    if (waitpid(child.pid(), &status, 0) != child.pid()) break;
  }
  ADD_FAILURE() << "the process did not come to its end: status " << status;
  return {};
}

[[nodiscard]] ::testing::AssertionResult are_same(const Steps& a, const Steps& b) {
  if (a == b && !a.empty()) return ::testing::AssertionSuccess();
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return ::testing::AssertionFailure()
         << "they part after " << at - a.begin() << " of " << a.size() << " and " << b.size();
}

base::Digest digest(std::uint8_t byte) {
  base::Digest all;
  all.fill(byte);
  return all;
}

volatile bool sink = false;

using Compare = bool (*)(const base::Digest&, const base::Digest&);

Steps steps_to_compare(Compare compare, std::size_t first_difference) {
  const base::Digest a = digest(0x5a);
  base::Digest b = a;
  if (first_difference < b.size()) b[first_difference] ^= 1;
  return steps_of([&] { sink = compare(a, b); });
}

[[gnu::noinline]] bool compare_with_early_end(const base::Digest& a, const base::Digest& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
    asm volatile("");  // Or clang makes one comparison of the loop.
  }
  return true;
}

bool compare_as_a_pass_does(const base::Digest& a, const base::Digest& b) {
  return base::is_same_digest(a, b);
}

TEST(PassSteps, AnEarlyEndWouldBeNoticed) {
  EXPECT_FALSE(are_same(steps_to_compare(compare_with_early_end, 3),
                        steps_to_compare(compare_with_early_end, 4)));
}

TEST(PassSteps, DigestsAreComparedInTheSameStepsWhereverTheyDiffer) {
  const Steps equal = steps_to_compare(compare_as_a_pass_does, base::Digest().size());
  for (std::size_t at = 0; at < base::Digest().size(); ++at) {
    ASSERT_TRUE(are_same(equal, steps_to_compare(compare_as_a_pass_does, at))) << at;
  }
}

constexpr PassContext kNow{.now = Instant(1'767'225'600'000'000)};

Keyring keyring(const std::string& secret) {
  return Keyring::of({{.kid = "k1", .secret = secret}});
}

std::string good_text(const Keyring& keys) {
  return keys.sign_pass({.store = 1, .gate = "shop", .visitor = {1, 2}, .fence = 3}, 30s, kNow);
}

// The text with one bit of its MAC changed.
std::string forged(const std::string& text, std::size_t byte) {
  const std::size_t mac = text.rfind('~') + 1;
  std::string bytes = base::parse_base64url(text.substr(mac)).value();
  bytes[byte] = static_cast<char>(bytes[byte] ^ 1);
  return text.substr(0, mac) + base::base64url(bytes);
}

Steps steps_to_check(const Keyring& keys, const std::string& text) {
  const GateName gate = "shop";
  return steps_of([&] { sink = std::holds_alternative<Pass>(keys.check_pass(text, gate, kNow)); });
}

TEST(PassSteps, AForgedTextIsRefusedInTheSameStepsWhereverItsMacIsWrong) {
  const Keyring keys = keyring(std::string(32, 's'));
  const std::string text = good_text(keys);
  const Steps first = steps_to_check(keys, forged(text, 0));
  EXPECT_GT(first.size(), 1'000U);  // It has got as far as the MAC.
  for (const std::size_t byte : {1U, 16U, 31U}) {
    EXPECT_TRUE(are_same(first, steps_to_check(keys, forged(text, byte)))) << byte;
  }
  EXPECT_FALSE(are_same(first, steps_to_check(keys, text)));
}

TEST(PassSteps, ACheckTakesTheSameStepsWithEveryKey) {
  const std::string text = good_text(keyring(std::string(32, 's')));
  const Steps first = steps_to_check(keyring(std::string(32, '\0')), text);
  EXPECT_GT(first.size(), 1'000U);
  for (const char byte : {'\x7f', '\xff'}) {
    EXPECT_TRUE(are_same(first, steps_to_check(keyring(std::string(32, byte)), text)));
  }
}

}  // namespace
}  // namespace airlock
