#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace airlock::internal {

// Where an item stands in its Timers.
struct Timer {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t place = kNone;
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
    return (item.*kTimer).place != Timer::kNone;
  }

  // Anew or again.
  void set(T& item, Instant at) {
    if (!has(item)) {
      heap_.push_back({at, &item});
      (item.*kTimer).place = heap_.size() - 1;
    }
    const std::size_t place = (item.*kTimer).place;
    heap_[place].at = at;
    down(up(place));
  }

  void clear(T& item) noexcept {
    const std::size_t place = (item.*kTimer).place;
    if (place == Timer::kNone) return;
    (item.*kTimer).place = Timer::kNone;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    put(place, last);
    down(up(place));
  }

 private:
  struct Entry {
    Instant at;
    T* item;
  };

  void put(std::size_t place, const Entry& entry) noexcept {
    heap_[place] = entry;
    (entry.item->*kTimer).place = place;
  }

  std::size_t up(std::size_t place) noexcept {
    const Entry entry = heap_[place];
    while (place > 0 && entry.at < heap_[(place - 1) / 2].at) {
      put(place, heap_[(place - 1) / 2]);
      place = (place - 1) / 2;
    }
    put(place, entry);
    return place;
  }

  void down(std::size_t place) noexcept {
    const Entry entry = heap_[place];
    while (2 * place + 1 < heap_.size()) {
      std::size_t child = 2 * place + 1;
      if (child + 1 < heap_.size() && heap_[child + 1].at < heap_[child].at) ++child;
      if (entry.at <= heap_[child].at) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, entry);
  }

  std::vector<Entry> heap_;
};

}  // namespace airlock::internal
