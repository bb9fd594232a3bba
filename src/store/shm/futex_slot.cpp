#include "store/shm/futex_slot.hpp"

#include <algorithm>
#include <bit>

#include "base/clock.hpp"
#include "base/futex.hpp"

namespace airlock::shm {

FutexSlot::FutexSlot(ProcessRecord& record, std::atomic<std::uint32_t>& taken) noexcept
    : record_(record), taken_(taken) {
  std::uint32_t seen = taken.load();
  do {
    index_ = static_cast<std::uint32_t>(std::countr_one(seen));
    if (!*this) return;
  } while (!taken.compare_exchange_weak(seen, seen | 1U << index_));
  record.futex_slots[index_].store(0);  // What came for the last one.
}

FutexSlot::~FutexSlot() {
  if (*this) taken_.fetch_and(~(1U << index_));
}

const std::atomic<std::uint32_t>* FutexSlot::tell(ProcessRecord& record,
                                                  std::uint32_t number) noexcept {
  const std::uint32_t index = number - kFirst;
  if (index >= ProcessRecord::kFutexSlots) return nullptr;
  record.futex_slots[index].fetch_or(kTold);
  return &record.futex_slots[index];
}

bool FutexSlot::sleep(Sleeper& sleeper, Instant deadline) {
  std::atomic<std::uint32_t>& word = record_.futex_slots[index_];
  const auto on_wake = [&word] {
    word.fetch_or(kRoused);
    base::futex_wake(word, 1);
  };
  if (sleeper.park(on_wake)) {
    for (Instant now = Clock::system().now(); word.load() == 0 && now < deadline;
         now = Clock::system().now()) {
      base::futex_wait(word, 0, deadline - now);
    }
  }
  const bool told = (word.load() & kTold) != 0;
  return sleeper.unpark() || told;
}

}  // namespace airlock::shm
