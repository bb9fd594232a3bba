#include "room/board.hpp"

#include <algorithm>

namespace airlock::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 900ms;  // Rounds are a second apart.
constexpr int kShare = 20;         // Looking takes at most this part of a thread.
constexpr std::uint64_t kFewGrants = 4;

}  // namespace

LineViewPtr Board::view(const Store& store) {
  const auto fresh = [this]() -> LineViewPtr {
    const std::scoped_lock lock(mutex_);
    return Clock::now() < next_look_ ? view_ : nullptr;
  };
  if (LineViewPtr view = fresh()) return view;
  const std::scoped_lock lock(looking_);
  if (LineViewPtr view = fresh()) return view;  // Another thread has looked meanwhile.
  return looked(store);
}

LineViewPtr Board::looked(const Store& store) {
  const auto begin = Clock::now();
  const auto gate = store.look(gate_);
  const auto view = std::make_shared<LineView>();
  if (gate) {
    view->spots.reserve(gate->line.size());
    std::uint32_t present = 0;
    for (const WaiterView& waiter : gate->line) {
      view->spots[waiter.visitor] = {
          .position = present + 1, .waited = waiter.waited, .present = waiter.present};
      if (waiter.present) ++present;
    }
    view->waiting = static_cast<std::uint32_t>(gate->line.size());
    for (const PauseView& pause : gate->pauses) {
      if (pause.reporter != kOpeningReporter) {
        view->is_paused = true;
      } else {
        view->shut_until = Clock::now() + pause.remaining;
      }
    }
  }
  const auto end = Clock::now();
  const std::scoped_lock lock(mutex_);
  meter_.add(end, gate ? gate->counters.granted : 0);
  view->pace = pace();
  view_ = view;
  next_look_ = end + std::max<Clock::duration>(kInterval, (end - begin) * kShare);
  return view_;
}

Pace Board::pace() const {
  const Pace seen = meter_.pace();
  if (seen.grants >= kFewGrants || store_interval_ == Duration(0)) return seen;
  return {.interval = store_interval_, .grants = kFewGrants};
}

void Board::note(Duration eta, std::uint32_t position) {
  if (eta <= Duration(0) || position == 0) return;
  const std::scoped_lock lock(mutex_);
  store_interval_ = eta / position;
}

std::shared_ptr<Board> Boards::at(const GateName& gate) {
  const std::scoped_lock lock(mutex_);
  if (boards_.size() >= kMax)
    std::erase_if(boards_, [](const auto& each) { return each.second.use_count() == 1; });
  auto& board = boards_[gate.text()];
  if (board == nullptr) board = std::make_shared<Board>(gate);
  return board;
}

}  // namespace airlock::server
