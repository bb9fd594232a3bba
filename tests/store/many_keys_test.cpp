#include <gtest/gtest.h>

#include <string>

#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "model/shard.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"

// Keys that are used once leave nothing behind, however fast they come.

namespace airlock {
namespace {

using namespace std::chrono_literals;

void use_once(const Store& store, const std::string& key, std::span<const Rate> rates = {}) {
  const Answer answer = store.admit({.gate = key,
                                     .visitor = VisitorId::random(),
                                     .permits = Permits{.limit = 1, .ttl = 1h},
                                     .rates = rates});
  ASSERT_TRUE(std::holds_alternative<Granted>(answer)) << key;
  ASSERT_TRUE(store.release(std::get<Granted>(answer).token));
}

// Default shared memory refused every new key after two million.
TEST(ManyKeys, PassThroughASegmentThatHoldsFewOfThem) {
  const TempDir dir;
  const auto store = shm::make_store({.dir = dir.path(), .size = 16 << 20}, Clock::system());
  for (int i = 0; i < 50'000; ++i) use_once(store, "key" + std::to_string(i));
}

TEST(ManyKeys, WithRatesPassThroughItWhenTheRatesHaveRecovered) {
  const TempDir dir;
  const auto store = shm::make_store({.dir = dir.path(), .size = 16 << 20}, Clock::system());
  const std::array rates = {Rate{.count = 1'000'000, .period = 1s},
                            Rate{.count = 1'000'000, .period = 2s}};
  for (int i = 0; i < 50'000; ++i) use_once(store, "key" + std::to_string(i), rates);
}

// What has a holder, a limit or an unexpired rate is not forgotten for a newcomer.
TEST(ManyKeys, DoNotPushOutWhatIsInUse) {
  const TempDir dir;
  const auto store = shm::make_store({.dir = dir.path(), .size = 16 << 20}, Clock::system());
  const Request held{
      .gate = "held", .visitor = VisitorId::named("h"), .permits = Permits{.limit = 1, .ttl = 1h}};
  ASSERT_TRUE(std::holds_alternative<Granted>(store.admit(held)));
  store.set_limit("limited", 7);
  const std::array rates = {Rate{.count = 1, .period = 1h}};
  use_once(store, "rated", rates);
  for (int i = 0; i < 50'000; ++i) use_once(store, "key" + std::to_string(i));
  EXPECT_EQ(store.look("held")->counts.in_use, 1U);
  EXPECT_EQ(store.look("limited")->override_limit, 7U);
  const Answer again =
      store.admit({.gate = "rated", .visitor = VisitorId::random(), .rates = rates});
  EXPECT_TRUE(std::holds_alternative<Refused>(again));
}

// Memory grew to 1.2 GB with ten million keys.
TEST(ManyKeys, AreForgottenInMemoryToo) {
  const auto store = open_store("memory:");
  for (int i = 0; i < 400'000; ++i) use_once(store, "key" + std::to_string(i));
  constexpr std::size_t kShards = 16;
  EXPECT_LT(store.list().size(), 2 * kShards * model::kManyGates);
}

// A gate that is used again and again keeps its counters beside any number of others.
TEST(ManyKeys, DoNotResetTheCountersOfAGateInUse) {
  const auto store = open_store("memory:");
  std::uint64_t used = 0;
  for (int i = 0; i < 400'000; ++i) {
    use_once(store, "key" + std::to_string(i));
    if (i % 100 != 0) continue;
    use_once(store, "busy");
    ++used;
  }
  EXPECT_EQ(store.look("busy")->counters.granted, used);
}

}  // namespace
}  // namespace airlock
