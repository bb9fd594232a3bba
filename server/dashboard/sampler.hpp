#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "airlock/store.hpp"
#include "dashboard/gate_row.hpp"
#include "dashboard/history.hpp"

namespace airlock::server {

// All gates of the store at one moment. Never changed once it is made.
struct Snapshot {
  std::int64_t epoch_seconds = 0;
  double period_seconds = 1;          // Until the next one is made.
  std::vector<GateRowPtr> rows = {};  // Sorted by name.
  std::string failure = {};           // Why the store did not answer; the rows are those of before.
  std::vector<Finding> findings = {};  // What an operator should know of the store.
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

// Looks at all gates once a second, with one call of the store, on a thread that waits for nothing else: no loop is
// delayed by a store with many gates, or by one that does not answer. Does so only while somebody watches or a history is
// kept, and less often where the store is slow: it spends at most a twentieth of its time asking. All members may be called
// from any thread.
class Sampler {
 public:
  static constexpr std::size_t kMaxWatchers = 64;
  static constexpr std::size_t kHistoryBytes = 64'000'000;

  Sampler(Store store, bool keeps_history);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();  // Waits for the call that runs.

  void stop();  // Begins to end; does not wait.

  // Calls `changed` after every snapshot, on the thread of the sampler, until `watcher` is gone. False: there are too many.
  [[nodiscard]] bool watch(const std::weak_ptr<const void>& watcher, std::function<void()> changed);

  [[nodiscard]] SnapshotPtr snapshot() const;  // The newest; null until there is one.

  // As JSON.
  [[nodiscard]] std::string history(const History::Question& question) const;
  [[nodiscard]] bool keeps_history() const noexcept { return keeps_history_; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Watcher {
    std::weak_ptr<const void> alive;
    std::function<void()> changed;
  };

  void run(const std::stop_token& stop);
  [[nodiscard]] bool is_wanted();
  [[nodiscard]] std::shared_ptr<Snapshot> look();
  void take_in(Snapshot& snapshot, const std::vector<GateSummary>& summaries, Clock::time_point at);
  void examine(Snapshot& snapshot);
  void publish(SnapshotPtr snapshot);
  void remember(const Snapshot& snapshot, Clock::time_point at);
  [[nodiscard]] std::uint32_t tick_of(Clock::time_point at) const;

  const Store store_;
  const bool keeps_history_;
  const Clock::time_point began_ = Clock::now();

  // Of the thread alone.
  std::vector<Sample> samples_;  // Of the newest snapshot, as its rows are.
  Clock::time_point last_look_{};
  Clock::time_point last_examination_{};
  std::vector<Finding> findings_;
  std::chrono::duration<double> period_{1};

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Watcher> watchers_;
  SnapshotPtr snapshot_;
  History history_{kHistoryBytes};
  std::jthread thread_;  // The last: it uses the others.
};

}  // namespace airlock::server
