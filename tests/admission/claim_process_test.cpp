#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>

#include "airlock/airlock_gate.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

// Visitors that are not connected all the time, served by several processes at the same line. No
// process knows what another one did for a visitor, and any of them may be killed at any moment.

namespace airlock {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kVisitors = 100;
constexpr std::size_t kServers = 6;

struct Board {
  // The order in which they came inside, from 1 on: a count, because two may come within one tick of a
  // clock. 0: not yet.
  std::array<std::atomic<std::int64_t>, kVisitors> inside_at{};
  std::atomic<std::int64_t> last = 0;

  [[nodiscard]] std::size_t served() const {
    std::size_t count = 0;
    for (const auto& at : inside_at) count += at != 0 ? 1 : 0;
    return count;
  }
};

VisitorId visitor(std::size_t number) {
  return VisitorId::named("visitor " + std::to_string(number));
}

class ClaimsInProcesses : public ::testing::Test {
 protected:
  [[nodiscard]] std::string uri() const { return "shm:room?dir=" + dir_.path(); }
  [[nodiscard]] Airlock room() const {
    return {open_store(uri()), "tickets", {.limit = 1, .ttl = 10s, .patience = 1min}};
  }

  // Asks for whoever comes: who is inside leaves at once.
  void serve(std::uint64_t seed) const {
    const auto store = open_store(uri());
    const Airlock room(store, "tickets", {.limit = 1, .ttl = 10s, .patience = 1min});
    std::mt19937_64 random(seed);
    while (board_->served() < kVisitors) {
      const std::size_t number = random() % kVisitors;
      const Claim claim = room.claim(visitor(number));
      if (claim.status != Claim::Status::claimed) continue;
      std::int64_t never = 0;
      board_->inside_at[number].compare_exchange_strong(never, ++board_->last);
      store.release(claim.granted->token);  // False if another process was quicker.
    }
  }

  TempDir dir_;
  SharedValue<Board> board_;
};

TEST_F(ClaimsInProcesses, EverybodyIsServedInOrderWhoeverIsKilled) {
  const auto store = open_store(uri());
  const Airlock at_the_door = room();
  const Answer closed = at_the_door.admit(VisitorId::named("until all have come"));
  for (std::size_t i = 0; i < kVisitors;
       i += 10) {  // Each ten come through a process of their own.
    EXPECT_TRUE(Child([&] {
                  const Airlock room = this->room();
                  for (std::size_t n = i; n < i + 10; ++n) (void)room.admit(visitor(n));
                }).wait());
  }
  ASSERT_EQ(store.look("tickets")->counts.waiting, kVisitors);

  std::array<Child, kServers> servers;
  std::uint64_t seed = 0;
  for (Child& server : servers) server = Child([this, s = ++seed] { serve(s); });
  ASSERT_TRUE(store.release(std::get<Granted>(closed).token));

  std::size_t kills = 0;
  const bool all_served = becomes_true([&] {
    Child& victim = servers.at(seed % kServers);
    victim.kill_and_wait();
    ++kills;
    victim = Child([this, s = ++seed] { serve(s); });
    return board_->served() == kVisitors;
  });
  ASSERT_TRUE(all_served) << board_->served() << " of " << kVisitors;
  for (std::size_t i = 1; i < kVisitors; ++i) {
    EXPECT_LT(board_->inside_at[i - 1], board_->inside_at[i]) << i;
  }
  RecordProperty("kills", static_cast<int>(kills));
  for (Child& server : servers) server.kill_and_wait();
  // Whoever was killed before it released left a detached token; its ttl would end it.
  for (std::size_t i = 0; i < kVisitors; ++i) {
    if (const Claim left = at_the_door.claim(visitor(i)); left.granted) {
      EXPECT_TRUE(store.release(left.granted->token));
    }
  }
  EXPECT_EQ(store.look("tickets")->counts.waiting, 0U);
  EXPECT_EQ(store.look("tickets")->counts.holders, 0U);
}

}  // namespace
}  // namespace airlock
