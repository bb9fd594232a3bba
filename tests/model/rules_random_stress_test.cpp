#include "model/support/random_trial.hpp"

// As rules_random_test.cpp, for longer.

namespace airlock::trial {
namespace {

TEST(RulesAtRandomForLong, AreTheReferencesWhenGatesAreTouchedNowAndThen) {
  try_at_random({.operations = 4'000'000, .pace = Twins::Pace::lazy});
}

TEST(RulesAtRandomForLong, AreTheReferencesWhenAllGatesAreKeptUpToDate) {
  try_at_random({.operations = 3'000'000, .pace = Twins::Pace::eager});
}

TEST(RulesAtRandomForLong, AreTheReferencesInACrowd) {
  try_at_random({.operations = 1'000'000, .episode = 5'000, .crowd = true});
}

}  // namespace
}  // namespace airlock::trial
