#include <algorithm>
#include <mutex>
#include <utility>

#include "admission/async_entries.hpp"
#include "store/call_limit.hpp"

// How entries ask: by airlock-ask, or by airlock-enter where the store is local.

namespace airlock::internal {
namespace {

// So many ask together; of a local store, where that saves nothing, before those who are in are told.
constexpr std::size_t kAskTogether = 512;
constexpr std::size_t kAskTogetherLocally = 16;

}  // namespace

void AsyncEntries::ask_all(Lane& lane) {
  const auto next = [&] {
    const base::LockGuard lock(mutex_);
    std::vector<EntryPtr> entries = take_ready(lane);
    if (entries.empty()) lane.worker->plan(kForever);
    return entries;
  };
  for (std::vector<EntryPtr> entries = next(); !entries.empty(); entries = next()) ask(entries);
}

// The first one asks alone: it learns which server has what. So does one that may not be asked for twice,
// which a batch may be.
std::vector<AsyncEntries::EntryPtr> AsyncEntries::take_ready(Lane& lane) {
  const std::size_t most = is_local_ ? kAskTogetherLocally : lane.has_asked ? kAskTogether : 1;
  std::vector<EntryPtr> taken;
  for (; !lane.ready.empty() && taken.size() < most; lane.ready.pop_front()) {
    const auto found = entries_.find(lane.ready.front());
    if (found == entries_.end()) continue;
    Entry& entry = *found->second;
    const bool is_alone = !is_local_ && !entry.attempt.is_repeatable();
    if (is_alone && !taken.empty()) break;
    entry.is_ready = false;
    if (is_moved(entry)) continue;
    entry.state = Entry::State::busy;
    if (std::exchange(entry.has_news, false)) entry.attempt.note_news();
    lane.has_asked = true;
    taken.push_back(found->second);
    if (!is_alone) continue;
    lane.ready.pop_front();
    break;
  }
  return taken;
}

// To the lane of the server that has its gate now; it stays where it is if no thread can be started there.
bool AsyncEntries::is_moved(Entry& entry) noexcept {
  const std::uint64_t server = server_of(entry);
  if (entry.lane->server == server) return false;
  try {
    Lane& lane = lane_of(server);
    lane.worker->start();
    lane.ready.push_back(entry.number);
    --entry.lane->entries;
    ++lane.entries;
    entry.lane = &lane;
    entry.is_ready = true;
    return lane.worker->try_need(Instant{0});
  } catch (const std::exception&) {
    return false;
  }
}

void AsyncEntries::ask(const std::vector<EntryPtr>& entries) {
  std::vector<EntryPtr> asking;
  std::vector<AdmitItem> items;
  std::vector<EntryPtr> waiting;
  for (const EntryPtr& entry : entries) {
    const std::exception_ptr failure = begin(*entry, items);
    if (asking.size() < items.size()) {
      asking.push_back(entry);
    } else {
      take_in(entry, failure ? Arrival(failure) : answer_to(*entry, nullptr), waiting);
    }
  }
  send(asking, items);
  for (std::size_t i = 0; i < asking.size(); ++i) {
    if (asking[i]->state == Entry::State::over) {
      abandon(*asking[i], items[i]);
    } else {
      take_in(asking[i], answer_to(*asking[i], &items[i]), waiting);
    }
  }
  may_be_late(waiting);
  for (const EntryPtr& entry : waiting) park(*entry);
}

bool AsyncEntries::has_news(const Entry& entry) {
  const base::LockGuard lock(mutex_);
  return entry.has_news;
}

// What it asks is added to the items, unless it is decided.
std::exception_ptr AsyncEntries::begin(Entry& entry, std::vector<AdmitItem>& items) {
  try {
    if (std::optional<Request> request = entry.attempt.begin()) items.push_back({*request});
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void AsyncEntries::send(const std::vector<EntryPtr>& asking, std::vector<AdmitItem>& items) {
  if (asking.empty()) return;
  const Attempt& first = asking.front()->attempt;
  const Duration left = std::max(first.deadline() - clock_.now(), kLastMoment);
  may_be_late(asking);
  {
    const CallLimit limit(is_local_ ? left : store_.timeout());
    store_.admit_each(items);
  }
  const base::LockGuard lock(mutex_);
  for (const EntryPtr& entry : asking) {
    if (entry->state == Entry::State::asking) entry->state = Entry::State::busy;
  }
}

// From now on airlock-enter may decide that they take too long.
void AsyncEntries::may_be_late(const std::vector<EntryPtr>& entries) {
  const base::LockGuard lock(mutex_);
  for (const EntryPtr& entry : entries) {
    entry->state = Entry::State::asking;
    if (!decltype(timers_)::has(*entry)) judge_soon(*entry);
  }
}

// Nothing as long as it waits.
std::optional<Arrival> AsyncEntries::answer_to(Entry& entry, AdmitItem* item) {
  try {
    if (item != nullptr) entry.attempt.end(*item);
    show_standing(entry);
    if (!entry.attempt.is_decided()) return std::nullopt;
    return entry.attempt.take();
  } catch (...) {
    return std::current_exception();
  }
}

void AsyncEntries::show_standing(const Entry& entry) noexcept {
  if (!entry.standing) return;
  entry.standing->position = entry.attempt.position();
  entry.standing->eta = entry.attempt.eta();
}

void AsyncEntries::take_in(const EntryPtr& entry, std::optional<Arrival> arrival,
                           std::vector<EntryPtr>& waiting) {
  if (!arrival) return waiting.push_back(entry);
  const base::LockGuard lock(mutex_);
  arrived_.push_back({.entry = take_out(*entry), .arrival = std::move(arrival)});
  (void)worker_->try_need(Instant{0});
}

// Until there is news, or it is time. What came while it asked is not asked for again: that may be a round
// trip.
void AsyncEntries::park(Entry& entry) {
  const bool watches = !has_news(entry) && entry.attempt.watch(news(entry.number));
  {
    const base::LockGuard lock(mutex_);
    if (entry.state != Entry::State::over) {
      entry.state = Entry::State::waiting;
      entry.has_news = entry.has_news || !watches;
      timers_.set(entry, std::min(entry.attempt.next_ask(), end_of(entry)));
      (void)worker_->try_need(timers_.first());
      if (entry.has_news) make_ready(entry);
      return;
    }
    --entry.lane->entries;
  }
  entry.attempt.leave();
  note_left();
}

// What came of a question that nobody waited for any more.
void AsyncEntries::abandon(Entry& entry, const AdmitItem& item) {
  {
    const base::LockGuard lock(mutex_);
    --entry.lane->entries;
  }
  entry.attempt.abandon(item);
  note_left();
}

}  // namespace airlock::internal
