#include "store/shm/cell.hpp"

#include <algorithm>
#include <utility>

#include "base/futex.hpp"
#include "store/shm/chair.hpp"

namespace airlock::shm {
namespace {

constexpr Duration kBetweenProbes = std::chrono::milliseconds(10);

}  // namespace

Cell::Cell(const Segment& segment, Process& process, std::uint32_t number,
           const model::Label& default_label)
    : StepSource(default_label),
      segment_(segment),
      process_(process),
      control_(segment.control(number)),
      deaths_(segment.header().deaths),
      memory_(segment, number),
      lock(control_.lock, process),
      shard(control_.head, memory_, *this, segment.header().store, number) {}

void Cell::put_right(bool to_repair, model::Moment& moment) {
  if (to_repair) repair(moment);
  const std::uint32_t deaths = deaths_.load(kAcquire);
  if (deaths != control_.deaths_seen.load(kRelaxed)) {
    shard.end_dead(moment);
    control_.deaths_seen.store(deaths, kRelaxed);
  }
  if (has_returned()) fold(moment);
}

void Cell::repair(model::Moment& moment) {
  note_damage();  // Until it is done, whatever happens.
  shard.rebuild(moment);
  shard.end_dead(moment);
  control_.damaged.store(0);
}

bool Cell::give_up(const Token& token, model::Micros now) {
  const std::optional<model::Ref> place = shard.give_up(token, now);
  if (!place) return false;
  const bool noted = std::ranges::any_of(control_.returns, [&](auto& entry) {
    std::uint32_t empty = 0;
    return entry.compare_exchange_strong(empty, *place + 1);
  });
  if (!noted) control_.more_returned.store(1);
  control_.returned.store(1);
  return true;
}

void Cell::fold(model::Moment& moment) {
  control_.returned.store(0);
  for (auto& entry : control_.returns) {
    const std::uint32_t place = entry.exchange(0);
    if (place != 0) shard.fold(place - 1, moment);
  }
  if (control_.more_returned.exchange(0) != 0) shard.fold_all(moment);
}

// Which process watches is in the visit; it is told once.
void Cell::changed(model::Ref /*ref*/, model::Visit& visit) noexcept {
  const model::Owner watcher = visit.watcher.get();
  if (watcher == 0) return;
  const std::uint32_t number = visit.watch_number.get();
  visit.watcher.set(0);
  if (watcher == process_.self()) {
    if (const auto* const chair = Chair::tell(process_.record(), number)) return wake_later(*chair);
    if (told_.own_count < Told::kMost) told_.own[told_.own_count] = number;
    ++told_.own_count;
  } else if (!process_.is_known_dead(watcher)) {
    tell(Process::number_of(watcher), number);
  }
}

void Cell::tell(std::uint32_t process, std::uint32_t watch) noexcept {
  ProcessRecord& record = segment_.process(process);
  if (const auto* const chair = Chair::tell(record, watch)) return wake_later(*chair);
  const bool noted = std::ranges::any_of(record.notices, [&](auto& notice) {
    std::uint32_t empty = 0;
    return notice.compare_exchange_strong(empty, watch + 1);
  });
  if (!noted) record.overflow.store(1);
  record.news.fetch_add(1);
  wake_later(record.news);
}

void Cell::wake_later(const std::atomic<std::uint32_t>& word) noexcept {
  const auto* const* const end = told_.words.begin() + told_.word_count;
  if (std::find(told_.words.cbegin(), end, &word) != end) return;
  if (told_.word_count == Told::kMost) return base::futex_wake(word, 1);
  told_.words[told_.word_count++] = &word;
}

Cell::Told Cell::take_told() noexcept {
  const Told told = told_;
  told_.own_count = 0;
  told_.word_count = 0;
  return told;
}

bool Cell::reachable(const model::Visit& visit) noexcept {
  const model::Owner owner = visit.owner.get();
  return owner == 0 || owner == process_.self() || process_.lives(owner);
}

bool Cell::anyone_died() noexcept {
  process_.look_for_deaths(kBetweenProbes);
  const std::uint32_t deaths = deaths_.load(kAcquire);
  return control_.deaths_seen.exchange(deaths) != deaths;
}

bool Cell::is_dead(model::Owner owner) noexcept { return process_.is_known_dead(owner); }

}  // namespace airlock::shm
