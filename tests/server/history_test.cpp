#include "dashboard/history.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

// What the server remembers of gates: dashboard/history.hpp.

namespace airlock::server {
namespace {

constexpr std::size_t kPlenty = 64'000'000;

Sample sample(std::uint64_t in_use, std::uint64_t granted = 0) {
  Sample sample;
  sample.values[Sample::kInUse] = in_use;
  sample.values[Sample::kGranted] = granted;
  return sample;
}

nlohmann::json ask(const History& history, const std::string& gate, std::uint32_t tick,
                   std::uint32_t span) {
  return nlohmann::json::parse(
      history.answer({.gates = {gate}, .span = span}, tick, 0))["gates"][0];
}

TEST(Track, GivesBackEverySampleThatChanged) {
  std::mt19937_64 random(1);
  Track track;
  std::vector<std::pair<std::uint32_t, Sample>> added;
  for (std::uint32_t tick = 0; tick < 2'000; tick += static_cast<std::uint32_t>(1 + random() % 3)) {
    Sample next = added.empty() ? Sample{} : added.back().second;
    next.values[random() % Sample::kSize] = random() >> (2 + random() % 62);
    if (track.add(tick, next)) added.emplace_back(tick, next);
  }
  std::vector<std::pair<std::uint32_t, Sample>> found;
  track.visit([&](std::uint32_t tick, const Sample& each) { found.emplace_back(tick, each); });
  EXPECT_EQ(found, added);
  EXPECT_FALSE(track.add(3'000, added.back().second));
}

TEST(History, AnswersWithTheSampleInEffectAndWithWhatIsMissing) {
  History history(kPlenty);
  const Sample one = sample(1, 10);
  const Sample two = sample(2, 40);
  for (std::uint32_t tick = 100; tick <= 200; ++tick)
    history.add(tick, {{"erp", tick < 150 ? &one : &two}}, 3);
  const auto erp = ask(history, "erp", 200, 120);
  EXPECT_EQ(erp["in_use"][119], 2);
  EXPECT_EQ(erp["in_use"][68], 1);
  EXPECT_EQ(erp["granted_per_second"][69], 30) << "at tick 150";
  EXPECT_EQ(erp["granted_per_second"][70], 0);
  EXPECT_TRUE(erp["in_use"][18].is_null());
  EXPECT_EQ(erp["missing"],
            nlohmann::json::parse(R"([{"from": 81, "to": 99, "because": "not_sampled"}])"));
}

TEST(History, AMinuteHasTheHighestUseWithinIt) {
  History history(kPlenty);
  const Sample low = sample(1);
  const Sample high = sample(9);
  for (std::uint32_t tick = 0; tick <= 300; ++tick)
    history.add(tick, {{"erp", tick == 90 ? &high : &low}}, 3);
  const auto day = ask(history, "erp", 300, History::kMinutes);
  const auto& in_use = day["in_use"];
  EXPECT_EQ(in_use[in_use.size() - 1], 1);
  EXPECT_EQ(in_use[in_use.size() - 4], 9) << "the second minute";
  EXPECT_EQ(in_use[in_use.size() - 3], 1);
}

TEST(History, CountersThatBeginAgainAreNoNegativeRate) {
  History history(kPlenty);
  const Sample before = sample(0, 1'000);
  const Sample after = sample(0, 7);
  history.add(60, {{"erp", &before}}, 3);
  history.add(61, {{"erp", &after}}, 3);
  EXPECT_EQ(ask(history, "erp", 61, 60)["granted_per_second"][59], 7);
}

// Every gate changes now and then, one every second.
TEST(History, StaysWithinItsBudgetAndForgetsTheQuietGatesFirst) {
  constexpr std::size_t kBudget = 400'000;
  constexpr std::uint32_t kGates = 300;
  History history(kBudget);
  std::vector<std::string> names = {"busy"};
  for (std::uint32_t i = 0; i < kGates; ++i) names.push_back("quiet-" + std::to_string(1'000 + i));
  std::vector<Sample> samples(names.size());
  std::uint32_t tick = 0;
  for (; tick <= History::kSeconds; ++tick) {
    samples[0].values[Sample::kGranted] = 7 * tick;
    for (std::uint32_t i = tick % 20; i < kGates; i += 20) ++samples[i + 1].values[Sample::kInUse];
    std::vector<History::Named> gates;
    for (std::size_t i = 0; i < names.size(); ++i) gates.push_back({names[i], &samples[i]});
    history.add(tick, gates, 3);
    ASSERT_LE(history.bytes(), kBudget) << tick;
  }
  const auto busy = ask(history, "busy", tick - 1, History::kSeconds);
  EXPECT_EQ(busy["missing"], nlohmann::json::array()) << "all of the hour";
  const auto quiet = ask(history, "quiet-1000", tick - 1, History::kSeconds);
  EXPECT_EQ(quiet["missing"][0]["because"], "dropped");
  EXPECT_FALSE(quiet["in_use"].back().is_null()) << "the newest stays";
}

TEST(History, AGateThatIsGoneIsUsedByNobody) {
  History history(kPlenty);
  const Sample held = sample(3);
  history.add(60, {{"erp", &held}}, 3);
  history.add(61, {}, 3);
  EXPECT_EQ(ask(history, "erp", 61, 60)["in_use"][59], 0);
  EXPECT_EQ(ask(history, "erp", 61, 60)["in_use"][58], 3);
}

}  // namespace
}  // namespace airlock::server
