#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "model/shard.hpp"
#include "model/support/heap_memory.hpp"
#include "model/support/owner_heads.hpp"
#include "model/support/perform.hpp"
#include "model/support/shard_probe.hpp"

// What a dead process costs the rules, and whom they suspect of being one.

namespace airlock::trial {
namespace {

using namespace std::chrono_literals;

class Witness final : public model::Listener {
 public:
  void changed(model::Ref /*ref*/, model::Visit& /*visit*/) noexcept override {}
  bool reachable(const model::Visit& /*visit*/) noexcept override { return true; }
  bool wants_suspects(After after, model::Micros& /*last_look*/) noexcept override {
    last_after = after;
    return true;
  }
  bool suspect(model::Owner owner) noexcept override {
    suspects.push_back(owner);
    return suspects.size() < most;
  }

  std::vector<model::Owner> suspects;
  std::size_t most = 1'000;
  After last_after = After::in_line;
};

class Deaths : public ::testing::Test {
 protected:
  Answer ask(const std::string& gate, std::uint64_t visitor, model::Owner owner,
             Request request = {.gate = "-"}) {
    request.gate = gate;
    request.visitor = {0, visitor};
    if (!request.permits) request.permits = Permits{.limit = 3, .ttl = 10s};
    const model::Label label("someone");
    return shard_.admit(request, gate_hash(gate), {.owner = owner, .label = &label}, context_);
  }
  std::uint32_t in_use(const std::string& gate) {
    return shard_.counts(gate, gate_hash(gate), context_).in_use;
  }

  const model::Owner first_ = model::make_owner(0, 1);
  const model::Owner second_ = model::make_owner(1, 1);
  Witness witness_;
  HeapMemory memory_;
  model::ShardHead head_;
  OwnerHeads owners_;
  model::Shard shard_{head_, memory_, witness_, 7, 0, owners_.lists()};
  model::Draw draw_{1};
  model::StepContext context_{1'000'000, 1'767'225'600'000'000, draw_};
};

TEST_F(Deaths, EndWhatTheProcessHadAndNothingOfItsSuccessor) {
  (void)ask("gate", 1, first_);
  (void)ask("gate", 2, second_);
  const model::Owner successor = model::make_owner(0, 2);
  (void)ask("gate", 3, successor);
  shard_.end_predecessors(successor, context_);
  EXPECT_EQ(in_use("gate"), 2U);
  shard_.end_predecessors(successor, context_);
  EXPECT_EQ(in_use("gate"), 2U);
}

// The exit of a process once brought every gate of the shard up to the present: with a million gates a
// millisecond under the lock.
TEST_F(Deaths, CostWhatTheProcessHadAndNotWhatTheShardHas) {
  (void)ask("its", 1, first_);
  (void)ask("another", 2, second_);
  context_.now += 20'000'000;
  shard_.end_predecessors(model::make_owner(0, 2), context_);
  const model::ShardProbe probe(shard_);
  EXPECT_TRUE(probe.due("another", gate_hash("another"), context_.now));
}

TEST_F(Deaths, OfOneWithManyHoldsLetInWhoWaitsAtEachGate) {
  constexpr int kGates = 200;
  const Permits one{.limit = 1, .ttl = 10s};
  for (int i = 0; i < kGates; ++i) {
    const std::string gate = "gate" + std::to_string(i);
    (void)ask(gate, 1, first_, {.gate = "-", .permits = one});
    (void)ask(gate, 2, second_, {.gate = "-", .permits = one, .line = {.join = true}});
  }
  shard_.end_predecessors(model::make_owner(0, 2), context_);
  for (int i = 0; i < kGates; ++i) {
    const std::string gate = "gate" + std::to_string(i);
    const auto visit = shard_.find_visit(gate, gate_hash(gate), {0, 2});
    ASSERT_TRUE(visit);
    EXPECT_EQ(visit->state(), model::VisitState::handed);
  }
}

TEST_F(Deaths, AreSuspectedOfTheHoldersOfAGateWithoutRoomOnly) {
  const Permits two{.limit = 2, .ttl = 10s};
  (void)ask("full", 1, first_, {.gate = "-", .permits = two});
  (void)ask("full", 2, first_, {.gate = "-", .permits = two, .hold = Hold::detached});
  (void)ask("roomy", 3, second_);
  EXPECT_TRUE(witness_.suspects.empty());
  EXPECT_TRUE(
      std::holds_alternative<Refused>(ask("full", 4, second_, {.gate = "-", .permits = two})));
  EXPECT_EQ(witness_.suspects, std::vector{first_});
  EXPECT_EQ(witness_.last_after, model::Listener::After::refused);
}

TEST_F(Deaths, AreSuspectedOfAllHoldersInTurn) {
  const Permits many{.limit = 5, .ttl = 10s};
  for (std::uint32_t i = 0; i < 5; ++i) {
    (void)ask("full", 1 + i, model::make_owner(10 + i, 1), {.gate = "-", .permits = many});
  }
  witness_.most = 2;
  std::set<model::Owner> seen;
  for (std::uint64_t i = 0; i < 5; ++i) {
    (void)ask("full", 100 + i, second_, {.gate = "-", .permits = many});
    EXPECT_LE(witness_.suspects.size(), 2U);
    seen.insert(witness_.suspects.begin(), witness_.suspects.end());
    witness_.suspects.clear();
  }
  EXPECT_EQ(seen.size(), 5U);
}

}  // namespace
}  // namespace airlock::trial
