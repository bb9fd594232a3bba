#include "store/shm/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "airlock/clock.hpp"
#include "airlock/error.hpp"
#include "base/posix.hpp"

namespace airlock::shm {
namespace {

constexpr auto kAcquire = std::memory_order_acquire;

struct flock byte_lock(short type, std::uint32_t number) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(kLocks + number);
  lock.l_len = 1;
  return lock;
}

int take_file(const Segment& segment) {
  Descriptor fd = segment.reopen();
  if (fd) return fd.release();
  throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::nothing_happened,
                   "shared memory " + segment.file().path() + ": removed in this moment");
}

}  // namespace

Process::Process(const Segment& segment) : segment_(segment), fd_(take_file(segment)) {
  if (claim_any()) return;
  throw StoreError(StoreError::Kind::no_room, StoreError::Outcome::nothing_happened,
                   "shared memory " + segment.file().path() + ": no room for another process");
}

// Others end what it has when they next look.
Process::~Process() {
  if (!segment_.is_file(fd_.get())) fd_.disown();
  if (fd_.get() < 0 || is_buried()) return;
  bury(number_of(self_), incarnation_of(self_));
  struct flock lock = byte_lock(F_UNLCK, number_of(self_));
  fcntl(fd_.get(), F_OFD_SETLK, &lock);
}

std::uint32_t Process::records() const noexcept {
  return std::min(segment_.header().processes.load(kAcquire), kMaxProcesses);
}

ProcessRecord* Process::record_of(model::Owner owner) const noexcept {
  const std::uint32_t number = number_of(owner);
  return number < records() ? &segment_.process(number) : nullptr;
}

// Those that nobody uses first, then those of the dead, then new ones.
bool Process::claim_any() {
  for (std::uint32_t number = 0; number < records(); ++number) {
    if (segment_.process(number).live.load(kAcquire) == 0 && claim(number, 0)) return true;
  }
  for (std::uint32_t number = 0; number < records(); ++number) {
    // Read before the probe, so that nobody who comes in between is taken for dead.
    const std::uint32_t seen = segment_.process(number).live.load(kAcquire);
    if (!is_locked(number) && claim(number, seen)) return true;
  }
  for (std::uint32_t number = records(); number < kMaxProcesses; ++number) {
    if (add_record(number) && claim(number, 0)) return true;
  }
  return false;
}

bool Process::add_record(std::uint32_t number) const {
  const std::uint64_t offset = Layout::kProcesses + number * sizeof(ProcessRecord);
  if (!segment_.allocate(offset, sizeof(ProcessRecord))) base::throw_errno("fallocate", ENOSPC);
  auto& processes = segment_.header().processes;
  std::uint32_t seen = processes.load(kAcquire);
  while (seen <= number && !processes.compare_exchange_weak(seen, number + 1)) {
  }
  return true;
}

// The dead one is written off before its byte is locked: else who waits for something that the dead
// one has would take the new one for it. The incarnation is this process's own once it has the lock.
bool Process::claim(std::uint32_t number, std::uint32_t dead) {
  ProcessRecord& record = segment_.process(number);
  if (dead != 0) bury(number, dead);
  struct flock lock = byte_lock(F_WRLCK, number);
  if (fcntl(fd_.get(), F_OFD_SETLK, &lock) != 0) return false;
  std::uint32_t incarnation = record.incarnation.fetch_add(1) + 1;
  if (incarnation == 0) incarnation = record.incarnation.fetch_add(1) + 1;
  for (auto& notice : record.notices) notice.store(0);
  record.overflow.store(0);
  record.pid.store(static_cast<std::uint32_t>(getpid()));
  record_ = &record;
  self_ = std::uint64_t{incarnation} << 32 | (number + 1) << 8;
  record.live.store(incarnation, std::memory_order_release);
  return true;
}

// In this order: who finds the first word raised finishes the rest.
void Process::bury(std::uint32_t number, std::uint32_t incarnation) const noexcept {
  ProcessRecord& record = segment_.process(number);
  std::uint32_t expected = incarnation;
  record.incarnation.compare_exchange_strong(expected, incarnation + 1);
  segment_.header().deaths.fetch_add(1);
  expected = incarnation;
  record.live.compare_exchange_strong(expected, 0);
}

// What cannot be asked counts as locked: nobody is buried by mistake.
bool Process::is_locked(std::uint32_t number) const noexcept {
  struct flock lock = byte_lock(F_WRLCK, number);
  return fcntl(segment_.probe(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// The descriptor may not be ours any more: then our own byte seems free too.
bool Process::is_free_for_sure(std::uint32_t number) const noexcept {
  return !is_locked(number) && is_locked(number_of(self_));
}

bool Process::is_known_dead(model::Owner owner) const noexcept {
  const ProcessRecord* const record = record_of(owner);
  return record == nullptr || record->incarnation.load(kAcquire) != incarnation_of(owner);
}

bool Process::lives(model::Owner owner) noexcept {
  if (is_known_dead(owner)) return false;
  if (owner == self_) return true;
  if (!is_free_for_sure(number_of(owner))) return !is_known_dead(owner);
  bury(number_of(owner), incarnation_of(owner));
  return false;
}

// Rarely enough that it takes no more than a twentieth of the time.
void Process::look_for_deaths(Duration at_least_ago) noexcept {
  constexpr std::int64_t kShare = 20;
  const std::int64_t began = Clock::system().now().count();
  auto& last_probe = segment_.header().last_probe;
  std::uint64_t last = last_probe.load(std::memory_order_relaxed);
  const std::int64_t pause = std::max(pause_.load(), at_least_ago.count());
  const auto since = static_cast<std::int64_t>(static_cast<std::uint64_t>(began) - last);
  if (since >= 0 && since < pause) return;
  if (!last_probe.compare_exchange_strong(last, static_cast<std::uint64_t>(began))) return;
  for (std::uint32_t number = 0; number < records(); ++number) {
    const std::uint32_t live = segment_.process(number).live.load(kAcquire);
    if (live == 0 || number == number_of(self_)) continue;
    const bool raised = segment_.process(number).incarnation.load(kAcquire) != live;
    if (raised || is_free_for_sure(number)) bury(number, live);
  }
  pause_ = (Clock::system().now().count() - began) * kShare;
}

Process::Census Process::census() const noexcept {
  Census census;
  for (std::uint32_t number = 0; number < records(); ++number) {
    if (segment_.process(number).live.load(kAcquire) == 0) continue;
    ++(is_locked(number) ? census.living : census.dead);
  }
  return census;
}

std::string Process::trouble() const {
  std::string trouble = segment_.whereabouts();
  if (trouble.empty() && (is_buried() || !is_locked(number_of(self_)))) {
    trouble = "this process has closed descriptors that it did not open";
  }
  return trouble;
}

}  // namespace airlock::shm
