#include "model/support/random_trial.hpp"
#include "support/chaos.hpp"

// As rules_random_test.cpp, for longer.

namespace airlock::trial {
namespace {

// A tenth of them without `./dev chaos --long`.
std::uint64_t some_of(std::uint64_t operations) {
  return testing::takes_its_time() ? operations : operations / 10;
}

TEST(RulesAtRandomForLong, AreTheReferencesWhenGatesAreTouchedNowAndThen) {
  try_at_random({.operations = some_of(4'000'000), .pace = Twins::Pace::lazy});
}

TEST(RulesAtRandomForLong, AreTheReferencesWhenAllGatesAreKeptUpToDate) {
  try_at_random({.operations = some_of(3'000'000), .pace = Twins::Pace::eager});
}

TEST(RulesAtRandomForLong, AreTheReferencesInACrowd) {
  try_at_random({.operations = some_of(1'000'000), .episode = 5'000, .crowd = true});
}

}  // namespace
}  // namespace airlock::trial
