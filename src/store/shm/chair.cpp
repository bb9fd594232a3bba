#include "store/shm/chair.hpp"

#include <algorithm>
#include <bit>

#include "base/clock.hpp"
#include "base/futex.hpp"

namespace airlock::shm {

Chair::Chair(ProcessRecord& record, std::atomic<std::uint32_t>& taken) noexcept
    : record_(record), taken_(taken) {
  std::uint32_t seen = taken.load();
  do {
    place_ = static_cast<std::uint32_t>(std::countr_one(seen));
    if (!*this) return;
  } while (!taken.compare_exchange_weak(seen, seen | 1U << place_));
  record.chairs[place_].store(0);  // What came for the last one.
}

Chair::~Chair() {
  if (*this) taken_.fetch_and(~(1U << place_));
}

const std::atomic<std::uint32_t>* Chair::tell(ProcessRecord& record,
                                              std::uint32_t number) noexcept {
  const std::uint32_t place = number - kFirst;
  if (place >= ProcessRecord::kChairs) return nullptr;
  record.chairs[place].fetch_or(kTold);
  return &record.chairs[place];
}

bool Chair::sleep(Sleeper& sleeper, Instant deadline) {
  std::atomic<std::uint32_t>& word = record_.chairs[place_];
  const auto rouse = [&word] {
    word.fetch_or(kRoused);
    base::futex_wake(word, 1);
  };
  if (sleeper.lie_down(rouse)) {
    for (Instant now = Clock::system().now(); word.load() == 0 && now < deadline;
         now = Clock::system().now()) {
      base::futex_wait(word, 0, deadline - now);
    }
  }
  const bool told = (word.load() & kTold) != 0;
  return sleeper.get_up() || told;
}

}  // namespace airlock::shm
