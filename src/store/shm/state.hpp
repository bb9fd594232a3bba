#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/fork.hpp"
#include "store/shm/cell.hpp"
#include "store/shm/chair.hpp"

namespace airlock::shm {

// A segment in use by this process: everything that a forked child must not share.
class State {
 public:
  // Attaches. `before` is what this one takes the place of.
  [[nodiscard]] static State* make(const Options& options, const Surroundings& surroundings,
                                   State* before);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Leaves the segment. The object is gone when its thread is.
  void close() noexcept;

  [[nodiscard]] StoreId id() const noexcept { return id_; }
  [[nodiscard]] bool knows(StoreId id) const noexcept;
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] model::Owner owner() const noexcept { return process_.self(); }

  // In this process, and as far as is known what others see under its name.
  [[nodiscard]] bool is_present() const noexcept {
    return generation_ == base::fork_generation() && !lost_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_inherited() const noexcept {
    return generation_ != base::fork_generation();
  }

  // Once a second: StoreError (unavailable) if the segment or this process's lock is gone.
  void check(model::Micros now) {
    if (now - last_check_.load(std::memory_order_relaxed) >= kBetweenChecks.count()) check_now(now);
  }
  [[noreturn]] void lose(const std::string& why);
  [[nodiscard]] const Segment& segment() const noexcept { return segment_; }
  [[nodiscard]] const Process& process() const noexcept { return process_; }
  [[nodiscard]] bool is_buried() const noexcept { return process_.is_buried(); }

  [[nodiscard]] Watches& watches() noexcept { return watches_; }
  // Before a watch is known to others: from now on a thread calls those that they tell of.
  void listen();

  // Where the calling thread may sleep instead.
  [[nodiscard]] Chair chair() noexcept { return Chair(process_.record(), chairs_taken_); }

  // After a step, unlocked.
  void deliver(const Cell::Told& told) noexcept;

  // Who is called from the thread of another process's news.
  ~State();

 private:
  State(const Options& options, const Surroundings& surroundings, State* before);

  static constexpr Duration kBetweenChecks = std::chrono::seconds(1);

  void check_now(model::Micros now);
  void run() noexcept;
  void call_told() noexcept;

  const std::uint64_t generation_ = base::fork_generation();
  Segment segment_;
  Process process_;
  const StoreId id_;
  const std::uint64_t seed_;
  std::vector<StoreId> earlier_;
  Watches watches_;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<model::Micros> last_check_ = 0;
  std::atomic<bool> listening_ = false;
  std::atomic<std::uint32_t> chairs_taken_ = 0;
  std::thread thread_;
  std::shared_ptr<State> self_;  // Until it is closed.
  State* before_ = nullptr;      // Lost, but others may still be in the middle of a step.

 public:
  std::vector<std::unique_ptr<Cell>> cells;
};

}  // namespace airlock::shm
