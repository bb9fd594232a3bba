#include "model/support/random_trial.hpp"

// The rules against a naive second implementation of them, over random sequences of steps.

namespace airlock::trial {
namespace {

TEST(RulesAtRandom, AreTheReferencesWhenGatesAreTouchedNowAndThen) {
  try_at_random({.operations = 600'000, .pace = Twins::Pace::lazy});
}

TEST(RulesAtRandom, AreTheReferencesWhenAllGatesAreKeptUpToDate) {
  try_at_random({.operations = 500'000, .pace = Twins::Pace::eager});
}

TEST(RulesAtRandom, AreTheReferencesInACrowd) {
  try_at_random({.operations = 100'000, .episode = 5'000, .crowd = true});
}

}  // namespace
}  // namespace airlock::trial
