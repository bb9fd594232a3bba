#include "store/shm/shard_view.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "store/shm/futex_slot.hpp"

namespace airlock::shm {
namespace {

// A line that does not move looks at the holders after this, or later: looking takes no more than a
// twentieth of the time.
constexpr Duration kBetweenLooks = std::chrono::milliseconds(10);
constexpr std::int64_t kShare = 20;

model::OwnerLists owner_lists(const Segment& segment, std::uint32_t shard) noexcept {
  auto* const heads = segment.at<std::byte>(Layout::kProcesses + offsetof(ProcessRecord, bound) +
                                            shard * sizeof(std::uint32_t));
  return {heads, sizeof(ProcessRecord), segment.header().processes, kMaxProcesses};
}

}  // namespace

ShardView::ShardView(const Segment& segment, Process& process, std::uint32_t number,
                     const model::Label& default_label)
    : StepSource(default_label),
      segment_(segment),
      process_(process),
      control_(segment.control(number)),
      memory_(segment, number),
      lock(control_.lock, process),
      shard(control_.head, memory_, *this, segment.header().store, number,
            owner_lists(segment, number)) {}

void ShardView::put_right(bool to_repair, model::StepContext& context) {
  if (to_repair) repair(context);
  if (has_deaths()) end_dead(context);
  if (has_returned()) apply_release(context);
}

void ShardView::repair(model::StepContext& context) {
  note_damage();  // Until it is done, whatever happens.
  shard.rebuild(context);
  shard.end_all_dead(context);
  control_.damaged.store(0);
}

// A death that is written down meanwhile is seen by the next step: the bit comes before the flag. A
// process that dies in here has the lock, so that all is repaired.
void ShardView::end_dead(model::StepContext& context) {
  control_.deaths.store(0);
  for (std::uint32_t word = 0; word < control_.dead.size(); ++word) {
    if (control_.dead[word].load(kRelaxed) == 0) continue;
    for (std::uint64_t bits = control_.dead[word].exchange(0); bits != 0; bits &= bits - 1) {
      const std::uint32_t number = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      shard.end_predecessors(process_.present_owner(number), context);
    }
  }
}

bool ShardView::release_lockfree(const Token& token, model::Micros now) {
  const std::optional<model::Ref> place = shard.release_lockfree(token, now);
  if (!place) return false;
  const bool noted = std::ranges::any_of(control_.returns, [&](auto& entry) {
    std::uint32_t empty = 0;
    return entry.compare_exchange_strong(empty, *place + 1);
  });
  if (!noted) control_.more_returned.store(1);
  control_.returned.store(1);
  return true;
}

void ShardView::apply_release(model::StepContext& context) {
  control_.returned.store(0);
  for (auto& entry : control_.returns) {
    const std::uint32_t place = entry.exchange(0);
    if (place != 0) shard.apply_release(place - 1, context);
  }
  if (control_.more_returned.exchange(0) != 0) shard.fold_all(context);
}

// Which process watches is in the visit; it is told once.
void ShardView::changed(model::Ref /*ref*/, model::Visit& visit) noexcept {
  const model::Owner watcher = visit.watcher.get();
  if (watcher == 0) return;
  const std::uint32_t number = visit.watch_number.get();
  visit.watcher.set(0);
  if (watcher == process_.self()) {
    if (const auto* const slot = FutexSlot::tell(process_.record(), number))
      return wake_later(*slot);
    if (told_.own_count < Told::kMost) told_.own[told_.own_count] = number;
    ++told_.own_count;
  } else if (!process_.is_known_dead(watcher)) {
    tell(model::number_of(watcher), number);
  }
}

void ShardView::tell(std::uint32_t process, std::uint32_t watch) noexcept {
  ProcessRecord& record = segment_.process(process);
  if (const auto* const slot = FutexSlot::tell(record, watch)) return wake_later(*slot);
  const bool noted = std::ranges::any_of(record.notices, [&](auto& notice) {
    std::uint32_t empty = 0;
    return notice.compare_exchange_strong(empty, watch + 1);
  });
  if (!noted) record.overflow.store(1);
  record.news.fetch_add(1);
  wake_later(record.news);
}

void ShardView::wake_later(const std::atomic<std::uint32_t>& word) noexcept {
  const auto* const* const end = told_.words.begin() + told_.word_count;
  if (std::find(told_.words.cbegin(), end, &word) != end) return;
  if (told_.word_count == Told::kMost) return base::futex_wake(word, 1);
  told_.words[told_.word_count++] = &word;
}

ShardView::Told ShardView::take_told() noexcept {
  const Told told = told_;
  told_.own_count = 0;
  told_.word_count = 0;
  return told;
}

bool ShardView::reachable(const model::Visit& visit) noexcept {
  const model::Owner owner = visit.owner.get();
  return owner == 0 || owner == process_.self() || process_.lives(owner);
}

ShardView::Suspects ShardView::take_suspects() noexcept {
  const Suspects suspects = suspects_;
  suspects_.count = 0;
  return suspects;
}

// By real time, also where the store's clock is stepped: it is for what the kernel does.
bool ShardView::wants_suspects(After after, model::Micros& last_look) noexcept {
  const model::Micros now = Clock::system().now().count();
  const model::Micros least = after == After::in_line ? kBetweenLooks.count() : 0;
  const model::Micros since = now - last_look;
  if (since >= 0 && since < std::max(least, kShare * process_.look_cost().count())) return false;
  last_look = now;
  return true;
}

bool ShardView::suspect(model::Owner owner) noexcept {
  const auto* const end = suspects_.owners.begin() + suspects_.count;
  if (owner == 0 || owner == process_.self()) return true;
  if (std::find(suspects_.owners.cbegin(), end, owner) != end) return true;
  if (suspects_.count == Suspects::kMost) return false;
  suspects_.owners[suspects_.count++] = owner;
  return true;
}

bool ShardView::is_dead(model::Owner owner) noexcept { return process_.is_known_dead(owner); }

}  // namespace airlock::shm
