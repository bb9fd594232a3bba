#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "model/extents.hpp"
#include "model/published_field.hpp"

namespace airlock::model {

// The shared part of a pool. `extents` and `fresh` are authoritative: records at and above `fresh`
// were never used. The rest is derived.
struct PoolHead {
  static constexpr std::uint32_t kMaxExtents = ExtentArray<int>::kMaxExtents;

  struct Extent {
    PublishedField<std::uint32_t> fresh;
    Ref free = kNone;
    std::uint32_t used = 0;
  };
  PublishedField<std::uint32_t> extents;
  std::uint32_t open = 0;           // Bit n: extent n has a record to give.
  std::array<Extent, 32> extent{};  // One for every bit, whatever they say.
};

// Records of one kind, taken lowest extent first so that a pool that empties can shrink. T has `Ref
// link`, free for the pool's use while the record is not taken, and is_free(), which the zeroes of
// a new extent satisfy.
template <typename T>
class Pool {
 public:
  Pool(PoolHead& head, Memory& memory, Region region) noexcept
      : head_(head), items_(memory, region, head.extents) {}

  [[nodiscard]] T& operator[](Ref ref) const noexcept { return items_[ref]; }
  [[nodiscard]] At<T> at(Ref ref) const noexcept { return {ref, &items_[ref]}; }

  // Makes sure that the next `count` takes succeed.
  [[nodiscard]] bool reserve(std::uint32_t count) {
    if (head_.open != 0) {
      const std::uint32_t number = lowest(head_.open);
      if (items_.size_of(number) - head_.extent[number].used >= count) return true;
    }
    return make_room(count);
  }

  // REQUIRES: a reserve() that covers it.
  [[nodiscard]] Ref take() {
    const std::uint32_t number = lowest(head_.open);
    PoolHead::Extent& extent = head_.extent[number];
    Ref ref = extent.free;
    if (ref != kNone) {
      extent.free = items_[ref].link;
    } else {
      const std::uint32_t fresh = extent.fresh.get();
      ref = items_.start_of(number) + fresh;
      extent.fresh.set(fresh + 1);
    }
    ++extent.used;
    if (extent.free == kNone && extent.fresh.get() == items_.size_of(number)) {
      head_.open &= ~(1U << number);
    }
    return ref;
  }

  void give(Ref ref) {
    const std::uint32_t number = items_.extent_of(ref);
    PoolHead::Extent& extent = head_.extent[number];
    items_[ref].link = extent.free;
    extent.free = ref;
    --extent.used;
    head_.open |= 1U << number;
    if (head_.extents.get() > 1) shrink();
  }

  [[nodiscard]] std::uint32_t extents() const noexcept { return items_.extents(); }
  template <typename Other>
  [[nodiscard]] bool has_same_extents_as(const ExtentArray<Other>& other) const noexcept {
    return other.has_same_extents_as(head_.extents);
  }

  // Every record that is not free, in the order of their places.
  template <typename Visitor>
  void for_each(Visitor&& visit) const {
    for (std::uint32_t number = 0; number < items_.extents(); ++number) {
      const Ref start = items_.start_of(number);
      const Ref end = start + fresh(number);
      for (Ref ref = start; ref < end; ++ref) {
        if (!items_[ref].is_free()) visit(ref);
      }
    }
  }

  // The derived part from the records.
  void rebuild() noexcept {
    head_.open = 0;
    for (std::uint32_t number = 0; number < items_.extents(); ++number) {
      rebuild_extent(number);
    }
  }

  [[nodiscard]] std::uint32_t used() const noexcept {
    std::uint32_t total = 0;
    for (std::uint32_t number = 0; number < items_.extents(); ++number) {
      total += head_.extent[number].used;
    }
    return total;
  }

  // One past the highest place ever used.
  [[nodiscard]] Ref end() const noexcept {
    const std::uint32_t extents = items_.extents();
    if (extents == 0) return 0;
    return items_.start_of(extents - 1) + fresh(extents - 1);
  }
  // Whether there is a record at the place, in use or not.
  [[nodiscard]] bool has(Ref ref) const noexcept {
    const std::uint32_t number = items_.extent_of(ref);
    return number < items_.extents() && ref - items_.start_of(number) < fresh(number);
  }
  [[nodiscard]] bool live(Ref ref) const noexcept { return has(ref) && !items_[ref].is_free(); }

 private:
  static std::uint32_t lowest(std::uint32_t open) noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(open)) % 32;
  }

  // How many records of the extent were ever used.
  [[nodiscard]] std::uint32_t fresh(std::uint32_t number) const noexcept {
    return std::min(head_.extent[number].fresh.get(), items_.size_of(number));
  }

  [[nodiscard, gnu::noinline]] bool make_room(std::uint32_t count) {
    while (!has_room(count)) {
      if (!add_extent()) return false;
    }
    return true;
  }

  [[nodiscard]] bool has_room(std::uint32_t count) const noexcept {
    std::uint32_t total = 0;
    for (std::uint32_t open = head_.open; open != 0 && total < count; open &= open - 1) {
      const std::uint32_t number = lowest(open);
      total += items_.size_of(number) - head_.extent[number].used;
    }
    return total >= count;
  }

  [[nodiscard]] bool add_extent() {
    const std::uint32_t number = items_.extents();
    PoolHead::Extent& extent = head_.extent[number];
    extent.fresh.set(0);
    extent.free = kNone;
    extent.used = 0;
    if (!items_.grow()) return false;
    head_.open |= 1U << number;
    return true;
  }

  // Gives back empty extents from the end, but keeps one while those below are more than half full:
  // no thrashing.
  [[gnu::noinline]] void shrink() {
    for (std::uint32_t last = items_.extents(); last-- > 1;) {
      if (head_.extent[last].used != 0) return;
      if (head_.extent[last - 1].used > items_.size_of(last - 1) / 2) return;
      head_.open &= ~(1U << last);
      items_.shrink();
    }
  }

  void rebuild_extent(std::uint32_t number) noexcept {
    PoolHead::Extent& extent = head_.extent[number];
    extent.free = kNone;
    extent.used = 0;
    for (std::uint32_t i = fresh(number); i-- > 0;) {
      T& item = items_[items_.start_of(number) + i];
      if (item.is_free()) {
        item.link = extent.free;
        extent.free = items_.start_of(number) + i;
      } else {
        ++extent.used;
      }
    }
    if (extent.used < items_.size_of(number)) head_.open |= 1U << number;
  }

  PoolHead& head_;
  ExtentArray<T> items_;
};

}  // namespace airlock::model
