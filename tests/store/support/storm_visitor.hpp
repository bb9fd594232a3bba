#pragma once

#include <atomic>
#include <memory>
#include <random>

#include "airlock/airlock_gate.hpp"
#include "store/support/storm_board.hpp"

namespace airlock::testing {

// One process of a storm.
class StormVisitor {
 public:
  StormVisitor(const StormPlan& plan, StormBoard& board, StormBoard::Seat& seat,
               std::uint64_t seed);
  StormVisitor(const StormVisitor&) = delete;
  StormVisitor& operator=(const StormVisitor&) = delete;

  void run();  // Until the storm ends.

 private:
  class WakeChannel;
  class Call;

  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random_() % n; }
  [[nodiscard]] Duration kept_from_running() const;  // By the machine, so long all together.
  void visit();
  void come_in(Lease& lease, Instant asked, const Call& call);
  void hold(Lease& lease);
  void leave(Lease& lease);
  void fork_now(std::uint64_t seed, Lease* parents);
  void be_child(StormBoard::Seat& seat, std::uint64_t seed, Lease* parents);

  const StormPlan& plan_;
  StormBoard& board_;
  StormBoard::Seat* seat_;
  std::mt19937_64 random_;
  std::atomic<Duration> forked_ = Duration(0);
  std::atomic<Instant> fork_began_ = Instant(0);  // 0: it does not fork now.
  std::shared_ptr<WakeChannel> ear_;
  Airlock airlock_;
};

}  // namespace airlock::testing
