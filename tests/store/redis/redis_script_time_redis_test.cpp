#include <gtest/gtest.h>

#include "store/redis/support/script_times.hpp"

// No script goes over all visits of a gate. The stress test of this name has 100 000 of each.

namespace airlock::testing {
namespace {

constexpr std::uint32_t kMany = 2'000;

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

}  // namespace
}  // namespace airlock::testing
