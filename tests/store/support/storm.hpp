#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "airlock/store.hpp"
#include "store/support/child.hpp"
#include "store/support/storm_board.hpp"
#include "support/chaos.hpp"

namespace airlock::testing {

// Processes visit one gate again and again, with deadlines, while somebody makes trouble:
//
//   Storm storm({.open = [&] { return open_store(uri); }, .limit = 3});
//   storm.run(20s, [&] { storm.stop_one(100ms); });
//   storm.end("stopstorm").report();
//
// The store is not asked whether all is well. Everybody writes on a board how long it is surely
// inside, by the word of its lease, and whoever comes in reads what all have written. When they came,
// and with which fence they went in, is noted and compared in the end.
class Storm {
 public:
  explicit Storm(StormPlan plan);
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;
  ~Storm();

  // Makes trouble again and again, for so long, and looks for calls that hang.
  void run(Duration time, const std::function<void()>& trouble);

  // Trouble, at random.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random_() % n; }
  void stop_one(Duration time);  // SIGSTOP; it goes on after so long.
  void kill_one();               // SIGKILL; another takes its place.
  [[nodiscard]] pid_t any() { return workers_[below(workers_.size())].process.pid(); }
  [[nodiscard]] pid_t any_inside();  // If there is one, else any.
  void note_fault(std::uint64_t count = 1) { faults_ += count; }
  // Sets a clock: leases that were asked for before may end before their time.
  template <typename Step>
  void forgiving_leases(const Step& step) {
    board_->believed_since = kForever;
    step();
    board_->believed_since = storm_now();
  }

  // Everybody leaves; what is left then, has leaked. In a storm of forks only children are alive.
  [[nodiscard]] ChaosRow end(const std::string& scenario);

 private:
  struct Worker {
    Child process;
    Instant stopped{0};
    Instant goes_on{0};      // 0: it is not stopped.
    bool may_block = false;  // Stopped, perhaps with the lock of the gate.
  };

  void start(std::size_t number);
  void let_go_on(Instant now);
  void look_whether_blocked();
  void look_for_hangs();
  void await_end();
  void await_children();
  [[nodiscard]] std::uint64_t leaks();

  const StormPlan plan_;
  SharedValue<StormBoard> board_;
  std::mt19937_64 random_;
  std::vector<Worker> workers_;
  Store store_;
  std::uint64_t faults_ = 0;
  std::uint64_t hangs_ = 0;
};

}  // namespace airlock::testing
