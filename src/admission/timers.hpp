#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace airlock::internal {

// Where an item stands in its Timers.
struct Timer {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t index = kNone;
};

// Items by the moment at which something is to be done for them: a binary heap that knows where
// each item is. Setting a moment later than all others, the usual case, is O(1).
template <typename T, Timer T::*kTimer>
class Timers {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] Instant first() const noexcept { return empty() ? kForever : heap_.front().at; }
  [[nodiscard]] T* due(Instant now) const noexcept {
    return first() <= now ? heap_.front().item : nullptr;
  }
  [[nodiscard]] static bool has(const T& item) noexcept {
    return (item.*kTimer).index != Timer::kNone;
  }

  // Anew or again.
  void set(T& item, Instant at) {
    if (!has(item)) {
      heap_.push_back({at, &item});
      (item.*kTimer).index = heap_.size() - 1;
    }
    const std::size_t index = (item.*kTimer).index;
    heap_[index].at = at;
    down(up(index));
  }

  void clear(T& item) noexcept {
    const std::size_t index = (item.*kTimer).index;
    if (index == Timer::kNone) return;
    (item.*kTimer).index = Timer::kNone;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (index == heap_.size()) return;
    put(index, last);
    down(up(index));
  }

 private:
  struct Entry {
    Instant at;
    T* item;
  };

  void put(std::size_t index, const Entry& entry) noexcept {
    heap_[index] = entry;
    (entry.item->*kTimer).index = index;
  }

  std::size_t up(std::size_t index) noexcept {
    const Entry entry = heap_[index];
    while (index > 0 && entry.at < heap_[(index - 1) / 2].at) {
      put(index, heap_[(index - 1) / 2]);
      index = (index - 1) / 2;
    }
    put(index, entry);
    return index;
  }

  void down(std::size_t index) noexcept {
    const Entry entry = heap_[index];
    while (2 * index + 1 < heap_.size()) {
      std::size_t child = 2 * index + 1;
      if (child + 1 < heap_.size() && heap_[child + 1].at < heap_[child].at) ++child;
      if (entry.at <= heap_[child].at) break;
      put(index, heap_[child]);
      index = child;
    }
    put(index, entry);
  }

  std::vector<Entry> heap_;
};

}  // namespace airlock::internal
