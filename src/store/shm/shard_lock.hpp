#pragma once

#include <cstdint>

#include "airlock/duration.hpp"
#include "store/shm/process.hpp"

namespace airlock::shm {

// The lock of a shard: a word that names its owner, so that it can be taken from one who died. It is
// free when it is 0, and is never made so before what the dead one left is repaired.
//
// Excludes threads of one process from each other too.
class ShardLock {
 public:
  ShardLock(Shared<std::uint64_t>& word, Process& process) noexcept
      : word_(word), process_(process) {}

  enum class Taken { clean, from_the_dead };

  // StoreError (busy) if it cannot be had in time, because its owner lives but does not go on.
  [[nodiscard]] Taken lock(Duration timeout) {
    if (try_lock()) [[likely]]
      return Taken::clean;
    return wait(timeout);
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint64_t expected = 0;
    return word_.compare_exchange_strong(expected, process_.self(), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_free() const noexcept { return word_.load(std::memory_order_relaxed) == 0; }
  // Waits for that, a few microseconds at most.
  [[nodiscard]] bool is_free_soon() const noexcept { return is_free() || becomes_free(); }

  // Leaves it alone if somebody took it from this process. Whether somebody awaited it, who may have
  // left something behind and gone: all that was done before `await_unlock` is seen.
  bool unlock() noexcept {
    std::uint64_t expected = process_.self();
    if (word_.compare_exchange_strong(expected, 0, std::memory_order_release,
                                      std::memory_order_relaxed)) [[likely]] {
      return false;
    }
    return unlock_awaited(expected);
  }
  // Has its owner told when it unlocks. False: it is free.
  [[nodiscard]] bool await_unlock() noexcept;

 private:
  static constexpr std::uint64_t kAwaited = 1;  // Somebody wants to know when it is free.

  [[gnu::cold, nodiscard]] bool becomes_free() const noexcept;
  [[gnu::cold]] Taken wait(Duration timeout);
  [[nodiscard]] bool take_from(std::uint64_t seen) noexcept;
  void sleep(std::uint64_t seen, Duration at_most) noexcept;
  [[noreturn]] void throw_busy(model::Owner owner, Duration waited) const;
  [[gnu::cold]] bool unlock_awaited(std::uint64_t seen) noexcept;
  [[nodiscard]] const std::atomic<std::uint32_t>& low_half() const noexcept;

  Shared<std::uint64_t>& word_;
  Process& process_;
};

}  // namespace airlock::shm
