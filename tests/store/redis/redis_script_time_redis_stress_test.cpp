#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "store/redis/call.hpp"
#include "store/redis/support/script_times.hpp"

// How long scripts keep the server from everybody else: the table of docs/guarantees.md.

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMany = 100'000;

TEST(EveryScriptIsShort, AtAGateWithManyHolders) { ScriptTimes(kMany).at_a_gate_with_holders(); }

TEST(EveryScriptIsShort, AtAGateWithManyWaiters) {
  ScriptTimes(kMany).at_a_gate_with_waiters(Order::fifo);
}

TEST(EveryScriptIsShort, AtALotteryWithManyWaiters) {
  ScriptTimes(kMany).at_a_gate_with_waiters(Order::aging_lottery);
}

TEST(EveryScriptIsShort, WhereManyHoldersHaveExpired) {
  ScriptTimes(kMany).where_holders_have_expired();
}

TEST(EveryScriptIsShort, WhereManyWaitersHaveExpired) {
  ScriptTimes(kMany).where_waiters_have_expired(Order::fifo);
}

TEST(EveryScriptIsShort, WhereManyInALotteryHaveExpired) {
  ScriptTimes(kMany).where_waiters_have_expired(Order::lottery);
}

TEST(EveryScriptIsShort, WhereManyAreHandedASlot) {
  ScriptTimes(kMany).where_all_are_handed_a_slot();
}

TEST(EveryScriptIsShort, WhereManyAreRevokedRepairedAndPurged) {
  ScriptTimes(kMany).where_all_are_revoked_repaired_and_purged();
}

// A newcomer, a holder that releases and whoever uses another gate are not held up by those who are gone.
TEST(EveryScriptIsShort, AndNobodyIsDelayedByManyWaitersThatAreGivenUpTogether) {
  ScriptTimes times(kMany);
  const Store& store = times.store();
  const Token token = times.enters(1, 24h);
  for (std::uint32_t i = 0; i < kMany; ++i) (void)times.waits(1, 10s);
  times.clock().advance(5s);
  const auto joins = [] {
    Request ask = ScriptTimes::ask(1, 24h);
    ask.line = {.join = true, .patience = 1h};
    return ask;
  };
  const Request alive = joins();
  ASSERT_TRUE(std::holds_alternative<Queued>(store.admit(alive)));
  times.clock().advance(6s);
  const auto delay_of = [&](const char* what, const auto& step) {
    const auto begin = std::chrono::steady_clock::now();
    step();
    const auto took = std::chrono::steady_clock::now() - begin;
    std::cout << what << ": " << std::chrono::duration<double, std::milli>(took).count() << " ms\n";
    EXPECT_LT(took, 500ms) << what;  // Ten times what it takes on a quiet machine.
  };
  const auto releases = [&](const Request& holder) {
    const Answer answer = store.admit(holder);
    ASSERT_TRUE(std::holds_alternative<Granted>(answer));
    delay_of("released", [&] { EXPECT_TRUE(store.release(std::get<Granted>(answer).token)); });
  };
  Request late = joins();
  times.measure("while they are given up", [&] {
    const Request refused = ScriptTimes::ask(1, 24h);
    delay_of("refused",
             [&] { EXPECT_TRUE(std::holds_alternative<Refused>(store.admit(refused))); });
    delay_of("queued", [&] { EXPECT_TRUE(std::holds_alternative<Queued>(store.admit(late))); });
    delay_of("released", [&] { EXPECT_TRUE(store.release(token)); });
    releases(alive);
    releases(late);
    delay_of("granted", [&] { (void)times.enters(1, 24h); });
  });
  const std::string left =
      times.server().command({"ZCARD", redis::Naming("test").key("gate", ":out")});
  EXPECT_GT(std::stol(left), 0);
  EXPECT_EQ(store.look("gate")->counters.abandoned, kMany);
}

}  // namespace
}  // namespace airlock::testing
