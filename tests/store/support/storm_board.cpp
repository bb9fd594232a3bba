#include "store/support/storm_board.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace airlock::testing {

bool StormBoard::is_over(std::uint32_t limit) {
  std::array<Instant, kSeats> first{};
  for (int tries = 0; tries < 5; ++tries) {
    for (std::size_t i = 0; i < kSeats; ++i) first[i] = seats[i].inside_until;
    const Instant moment = storm_now();
    bool stands_still = true;
    std::uint32_t inside = 0;
    for (std::size_t i = 0; i < kSeats; ++i) {
      const bool counts = seats[i].lives && seats[i].asked.load() > believed_since.load();
      stands_still = stands_still && seats[i].inside_until.load() == first[i];
      if (counts && first[i] > moment) ++inside;
    }
    if (!stands_still) continue;
    ++checks;
    return inside > limit;
  }
  return false;
}

std::uint64_t StormBoard::order_violations() const {
  const auto all = std::span(log).first(std::min(noted.load(), kVisits));
  std::vector<Visit> asking;  // Who died while it noted has no fence.
  std::ranges::copy_if(all, std::back_inserter(asking),
                       [](const Visit& visit) { return visit.fence != 0; });
  std::vector<Visit> settling = asking;
  std::ranges::sort(asking, {}, &Visit::asked);
  std::ranges::sort(settling, {}, &Visit::settled);
  std::uint64_t violations = 0;
  Fence highest = 0;
  std::size_t settled = 0;
  for (const Visit& visit : asking) {
    for (; settled < settling.size() && settling[settled].settled < visit.asked; ++settled) {
      highest = std::max(highest, settling[settled].fence);
    }
    if (visit.fence <= highest) ++violations;
  }
  return violations;
}

StormBoard::Seat* StormBoard::take_seat(std::size_t first) {
  for (Seat& seat : std::span(seats).subspan(first)) {
    pid_t free = 0;
    if (seat.pid.compare_exchange_strong(free, -1)) return &seat;
  }
  return nullptr;
}

}  // namespace airlock::testing
