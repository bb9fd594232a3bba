#pragma once

#include <atomic>
#include <cstdint>

#include "store/shm/layout.hpp"
#include "store/sleeper.hpp"

namespace airlock::shm {

// Where a thread of this process sleeps while its visitor waits: whoever has news for the visitor
// wakes it, without a thread in between. There are a few for each process; who finds none is told
// by the process's own thread.
class FutexSlot {
 public:
  // Takes one, if one is free. `taken` says which are, a bit for each.
  FutexSlot(ProcessRecord& record, std::atomic<std::uint32_t>& taken) noexcept;
  FutexSlot(const FutexSlot&) = delete;
  FutexSlot& operator=(const FutexSlot&) = delete;
  ~FutexSlot();

  [[nodiscard]] explicit operator bool() const noexcept {
    return index_ < ProcessRecord::kFutexSlots;
  }

  // What a visit remembers, beside the numbers of watches.
  [[nodiscard]] std::uint32_t number() const noexcept { return kFirst + index_; }

  // Until its visitor is told, the sleeper is woken, or the deadline. Returns whether there is news.
  [[nodiscard]] bool sleep(Sleeper& sleeper, Instant deadline);

  // The word of the thread with such a number in another process, told; null: it is no such number.
  // After the step it is to be woken.
  [[nodiscard]] static const std::atomic<std::uint32_t>* tell(ProcessRecord& record,
                                                              std::uint32_t number) noexcept;

 private:
  static constexpr std::uint32_t kFirst = 0xFFFF'FF00;  // There are not so many watches.
  static constexpr std::uint32_t kTold = 1;
  static constexpr std::uint32_t kRoused = 2;

  ProcessRecord& record_;
  std::atomic<std::uint32_t>& taken_;
  std::uint32_t index_ = 0;
};

}  // namespace airlock::shm
