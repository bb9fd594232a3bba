#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/fork.hpp"
#include "base/locks.hpp"
#include "store/shm/futex_slot.hpp"
#include "store/shm/shard_view.hpp"

namespace airlock::shm {

// A segment in use by this process: everything that a forked child must not share.
//
// One that is lost is replaced by another; callers that are in the middle of a step, or asleep, still
// use it, so it is freed when none of them has it pinned (base/hazard.hpp).
class Attachment {
 public:
  // Attaches. `before` is what this one takes the place of: tokens and watches of it are known here.
  [[nodiscard]] static Attachment* make(const Options& options, const HostIdentity& host,
                                        const Attachment* before);
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  // Leaves the segment and waits for its thread, unless called by it. The object is gone when its
  // thread is.
  void close() noexcept;
  // It has been replaced: its thread calls all watches and ends.
  void abandon() noexcept;
  // Whether it has no thread that still runs.
  [[nodiscard]] bool is_quiet() const noexcept { return !listens_.load(std::memory_order_acquire); }

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
  [[nodiscard]] bool is_marked_dead() const noexcept { return process_.is_marked_dead(); }

  [[nodiscard]] Watchers& watchers() noexcept { return *watchers_; }
  // Before a watch is known to others: from now on a thread calls those that they notify. StoreError
  // (no_room) if no thread can be started; the next call tries again.
  void listen();

  // Where the calling thread may sleep instead.
  [[nodiscard]] FutexSlot slot() noexcept {
    return FutexSlot(process_.record(), futex_slots_taken_);
  }

  // After a step, unlocked. Whether any of those is dead.
  void deliver(const ShardView::Told& told) noexcept;
  [[nodiscard]] bool any_dead(const ShardView::Suspects& suspects) noexcept {
    return process_.any_dead({suspects.owners.data(), suspects.count});
  }

  ~Attachment();

 private:
  Attachment(const Options& options, const HostIdentity& host, const Attachment* before);

  static constexpr Duration kBetweenChecks = std::chrono::seconds(1);

  void take_over(const Attachment& before);
  void check_now(model::Micros now);
  void start_thread() AIRLOCK_REQUIRES(starting_);
  void wake_thread() noexcept;
  void run() noexcept;
  void call_told() noexcept;

  const std::uint64_t generation_ = base::fork_generation();
  Segment segment_;
  Process process_;
  const StoreId id_;
  const std::uint64_t seed_;
  std::vector<StoreId> earlier_;  // Of lost segments, the newest last.
  std::shared_ptr<Watchers> watchers_;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<model::Micros> last_check_ = 0;
  base::StdMutex starting_;
  bool started_ AIRLOCK_GUARDED_BY(starting_) = false;  // Has a thread, or had one.
  std::atomic<bool> listens_ = false;                   // It runs.
  std::atomic<std::uint32_t> futex_slots_taken_ = 0;
  std::thread thread_;
  std::shared_ptr<Attachment> self_;  // Until it is closed.

 public:
  std::vector<std::unique_ptr<ShardView>> views;
  Attachment* next_retired = nullptr;
};

}  // namespace airlock::shm
