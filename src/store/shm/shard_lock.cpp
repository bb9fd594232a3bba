#include "store/shm/shard_lock.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <string>

#include "airlock/error.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "store/call_limit.hpp"

namespace airlock::shm {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr int kFirstRest = 16;  // In relax(): as long as a few steps take.
constexpr int kLastRest = 64;
constexpr int kYields = 16;
constexpr int kShortWaits = 8;
constexpr Duration kPatience = std::chrono::milliseconds(2);

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether the same owner has been waited for so long that it may be dead.
class Suspicion {
 public:
  bool grows(model::Owner owner, Instant now) noexcept {
    const bool same = owner == owner_;
    if (same && now - since_ < kPatience) return false;
    owner_ = owner;
    since_ = now;
    return same;
  }

 private:
  model::Owner owner_ = 0;
  Instant since_{0};
};

}  // namespace

// Sleepers sleep on the half that has the flag and the place of the owner.
const std::atomic<std::uint32_t>& ShardLock::low_half() const noexcept {
  const auto* halves = reinterpret_cast<const std::atomic<std::uint32_t>*>(&word_);
  return halves[std::endian::native == std::endian::little ? 0 : 1];
}

// Looks seldom: who sees at once that it is free takes it at once, and with it everything it guards to
// another core, after every single step. So the owner makes a few in a row.
bool ShardLock::becomes_free() const noexcept {
  for (int rest = kFirstRest; rest <= kLastRest; rest *= 2) {
    for (int i = 0; i < rest; ++i) relax();
    if (is_free()) return true;
  }
  for (int i = 0; i < kYields; ++i) {
    sched_yield();
    if (is_free()) return true;
  }
  return false;
}

ShardLock::Taken ShardLock::wait(Duration timeout) {
  for (int i = 0; i < kShortWaits && becomes_free(); ++i) {
    if (try_lock()) return Taken::clean;
  }
  timeout = CallLimit::within(timeout);
  const Instant end = saturating_add(Clock::system().now(), timeout);
  Suspicion suspicion;
  while (true) {
    const std::uint64_t seen = word_.load(kRelaxed);
    const model::Owner owner = seen & ~kAwaited;
    const Instant now = Clock::system().now();
    if (owner == 0) {
      if (take_from(seen)) return Taken::clean;
    } else if (suspicion.grows(owner, now) && !process_.lives(owner)) {
      if (take_from(seen)) return Taken::from_the_dead;
    } else {
      if (now >= end) throw_busy(owner, timeout);
      sleep(seen, std::min(kPatience, end - now));
    }
  }
}

// Others may sleep too, so it is taken as awaited.
bool ShardLock::take_from(std::uint64_t seen) noexcept {
  return word_.compare_exchange_strong(seen, process_.self() | kAwaited, std::memory_order_acquire,
                                       kRelaxed);
}

void ShardLock::sleep(std::uint64_t seen, Duration at_most) noexcept {
  const bool noted = (seen & kAwaited) != 0 ||
                     word_.compare_exchange_strong(seen, seen | kAwaited, kRelaxed, kRelaxed);
  if (noted) base::futex_wait(low_half(), static_cast<std::uint32_t>(seen | kAwaited), at_most);
}

void ShardLock::throw_busy(model::Owner owner, Duration waited) const {
  const ProcessRecord* const record = process_.record_of(owner);
  throw StoreError(StoreError::Kind::busy, StoreError::Outcome::nothing_happened,
                   "the shared memory is busy: its lock was not free for " + to_text(waited) +
                       "; process " +
                       std::to_string(record == nullptr ? 0 : record->pid.load(kRelaxed)) +
                       " holds it and does not run: stopped, or starved of CPU time");
}

bool ShardLock::await_unlock() noexcept {
  std::uint64_t seen = word_.load(kRelaxed);
  while (seen != 0) {
    // Written even if it says so already: what it stands for is new.
    if (word_.compare_exchange_weak(seen, seen | kAwaited, std::memory_order_release, kRelaxed)) {
      return true;
    }
  }
  return false;
}

bool ShardLock::unlock_awaited(std::uint64_t seen) noexcept {
  if (seen != (process_.self() | kAwaited)) return false;
  if (!word_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel, kRelaxed)) return false;
  base::futex_wake(low_half(), 1);
  return true;
}

}  // namespace airlock::shm
