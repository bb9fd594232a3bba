#include "store/shm/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "airlock/error.hpp"
#include "base/clock.hpp"
#include "base/no_fork.hpp"
#include "base/posix.hpp"
#include "base/random.hpp"

namespace airlock::shm {
namespace {

using model::incarnation_of;
using model::number_of;

constexpr auto kAcquire = std::memory_order_acquire;

// So many records are looked at in one go, where any would do or all have their turn.
constexpr std::uint32_t kFewProbes = 8;
constexpr std::uint32_t kProbesInTurn = 256;
constexpr std::int64_t kBetweenTurns = 1'000'000;

// What this thread has worked, in us: what others do meanwhile is not the cost of a look.
std::int64_t thread_time() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1'000;
}

struct flock byte_lock(short type, std::uint32_t number) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(kLocks + number);
  lock.l_len = 1;
  return lock;
}

Descriptor take_file(const Segment& segment) {
  Descriptor fd = segment.reopen();
  if (fd) return fd;
  throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::nothing_happened,
                   "shared memory " + segment.file().path() + ": it was removed just now");
}

}  // namespace

// A child that is forked before the descriptor is closed would keep the lock.
Process::Process(const Segment& segment) : segment_(segment) {
  const base::NoFork no_fork;
  fd_ = take_file(segment);
  if (!claim_any()) {
    throw StoreError(StoreError::Kind::no_room, StoreError::Outcome::nothing_happened,
                     "shared memory " + segment.file().path() + ": no room for another process");
  }
  lock_ = base::KeptFile(fd_);
  fd_ = {};
}

// Others end what it has when they next look.
Process::~Process() {
  if (!is_marked_dead()) (void)mark_dead(number_of(self_), incarnation_of(self_));
}

std::uint32_t Process::records() const noexcept {
  return std::min(segment_.header().processes.load(kAcquire), kMaxProcesses);
}

ProcessRecord* Process::record_of(model::Owner owner) const noexcept {
  const std::uint32_t number = number_of(owner);
  return number < records() ? &segment_.process(number) : nullptr;
}

model::Owner Process::present_owner(std::uint32_t number) const noexcept {
  if (number >= records()) return 0;
  return model::make_owner(number, segment_.process(number).incarnation.load(kAcquire));
}

// An unused record first, then one of a few that may belong to the dead, then a new one. All of them
// are probed only where there are no new ones: a probe takes as long as there are processes.
bool Process::claim_any() {
  if (claim_unused()) return true;
  const std::uint32_t known = records();
  if (known != 0 && claim_of_the_dead(base::random31() % known, kFewProbes)) return true;
  for (std::uint32_t number = known; number < kMaxProcesses; ++number) {
    if (add_record(number) && claim(number, 0)) return true;
  }
  return claim_of_the_dead(0, kMaxProcesses);
}

bool Process::claim_unused() {
  for (std::uint32_t number = 0; number < records(); ++number) {
    if (segment_.process(number).live.load(kAcquire) == 0 && claim(number, 0)) return true;
  }
  return false;
}

bool Process::claim_of_the_dead(std::uint32_t first, std::uint32_t count) {
  const std::uint32_t known = records();
  for (std::uint32_t i = 0; i < std::min(count, known); ++i) {
    const std::uint32_t number = (first + i) % known;
    // Read before the probe, so that nobody who comes in between is taken for dead.
    const std::uint32_t seen = segment_.process(number).live.load(kAcquire);
    if (!is_locked(number) && claim(number, seen)) return true;
  }
  return false;
}

bool Process::add_record(std::uint32_t number) const {
  const std::uint64_t offset = Layout::kProcesses + number * sizeof(ProcessRecord);
  const int error = segment_.allocate(offset, sizeof(ProcessRecord));
  if (error != 0) base::throw_errno("fallocate", error);
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
  if (dead != 0) write_off(number, dead);
  struct flock lock = byte_lock(F_WRLCK, number);
  if (fcntl(fd_.get(), F_OFD_SETLK, &lock) != 0) return false;
  std::uint32_t incarnation = record.incarnation.fetch_add(1) + 1;
  if (incarnation == 0) incarnation = record.incarnation.fetch_add(1) + 1;
  for (auto& notice : record.notices) notice.store(0);
  record.overflow.store(0);
  record.pid.store(static_cast<std::uint32_t>(getpid()));
  record_ = &record;
  self_ = model::make_owner(number, incarnation);
  record.live.store(incarnation, std::memory_order_release);
  return true;
}

// It died without leaving.
void Process::write_off(std::uint32_t number, std::uint32_t incarnation) const noexcept {
  if (!mark_dead(number, incarnation)) return;
  segment_.header().last_death.store(static_cast<std::uint64_t>(Clock::system().now().count()));
  segment_.header().died.fetch_add(1);
}

// In this order: who finds the first word raised finishes the rest. Whether it was the first.
bool Process::mark_dead(std::uint32_t number, std::uint32_t incarnation) const noexcept {
  ProcessRecord& record = segment_.process(number);
  std::uint32_t expected = incarnation;
  const bool first = record.incarnation.compare_exchange_strong(expected, incarnation + 1);
  for (std::uint32_t shard = 0; shard < kShards; ++shard) {
    ShardControl& control = segment_.control(shard);
    control.dead[number / 64].fetch_or(std::uint64_t{1} << number % 64);
    control.deaths.store(1);
  }
  expected = incarnation;
  record.live.compare_exchange_strong(expected, 0);
  return first;
}

// What cannot be asked counts as locked: nobody is marked dead by mistake.
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

// A death that was found before is written down again: its finder may have died before it was done.
bool Process::lives(model::Owner owner) noexcept {
  if (owner == self_) return true;
  if (record_of(owner) == nullptr) return false;
  if (!is_known_dead(owner) && !is_free_for_sure(number_of(owner))) return !is_known_dead(owner);
  write_off(number_of(owner), incarnation_of(owner));
  return false;
}

bool Process::any_dead(std::span<const model::Owner> owners) noexcept {
  const std::int64_t began = thread_time();
  bool any = false;
  for (const model::Owner owner : owners) any = !lives(owner) || any;
  // At most doubled: an interrupt or a cold cache is no measure.
  look_cost_ = std::min(thread_time() - began, 2 * look_cost_.load() + 1);
  return any;
}

void Process::look_in_turn() noexcept {
  Header& header = segment_.header();
  const auto now = static_cast<std::uint64_t>(Clock::system().now().count());
  std::uint64_t last = header.last_probe.load(std::memory_order_relaxed);
  if (now - last < kBetweenTurns && now >= last) return;
  if (!header.last_probe.compare_exchange_strong(last, now)) return;
  const std::uint32_t known = records();
  const std::uint32_t first = header.next_probe.fetch_add(kProbesInTurn);
  for (std::uint32_t i = 0; i < std::min(kProbesInTurn, known); ++i) {
    const std::uint32_t number = (first + i) % known;
    const std::uint32_t live = segment_.process(number).live.load(kAcquire);
    if (live != 0) (void)lives(model::make_owner(number, live));
  }
}

Process::Counts Process::counts() const noexcept {
  Counts counts{.dead = segment_.header().died.load()};
  const std::uint32_t written_off = counts.dead;
  for (std::uint32_t number = 0; number < records(); ++number) {
    if (segment_.process(number).live.load(kAcquire) == 0) continue;
    ++(is_locked(number) ? counts.living : counts.dead);
  }
  if (counts.dead == written_off) {
    const auto last = static_cast<std::int64_t>(segment_.header().last_death.load());
    counts.since_last_death = Clock::system().now() - Instant(last);
  }
  return counts;
}

std::string Process::problem() const {
  std::string problem = segment_.problem();
  if (problem.empty() && is_marked_dead()) problem = "other processes considered this one dead";
  return problem;
}

}  // namespace airlock::shm
