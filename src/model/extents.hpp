#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "model/word.hpp"

namespace airlock::model {

// The place of a record in its pool. The same in every process that maps the pool.
using Ref = std::uint32_t;
inline constexpr Ref kNone = 0xFFFF'FFFF;

// Which array an extent belongs to; a mapped segment gives each its own region.
enum class Region : std::uint8_t {
  gates,
  visits,
  deadlines,
  places,
  tiers,
  pauses,
  slots,
  gate_index,
  visit_index
};
inline constexpr std::size_t kRegions = 9;

// Where extents come from: the heap, or a mapped file.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  // `bytes` of zeroes for extent `number` of a region, or null when there is no more room.
  [[nodiscard]] virtual void* grow(Region region, std::uint32_t number,
                                   std::size_t bytes) noexcept = 0;
  virtual void shrink(Region region, std::uint32_t number, void* extent,
                      std::size_t bytes) noexcept = 0;
};

// A record and its place: resolved once, used often.
template <typename T>
struct At {
  Ref ref = kNone;
  T* record = nullptr;

  T* operator->() const noexcept { return record; }
  T& operator*() const noexcept { return *record; }
  explicit operator bool() const noexcept { return record != nullptr; }
};

// An array that grows by extents of doubling size, so that nothing ever moves and a reference costs
// two loads. This object is one process's view: the extents are shared, the table of their
// addresses is not.
template <typename T>
class ExtentArray {
 public:
  static constexpr std::uint32_t kMaxExtents = 24;
  static constexpr std::uint32_t kFirst = 64;  // Items in extent 0; extent n has kFirst << n.

  ExtentArray(Memory& memory, Region region) noexcept : memory_(memory), region_(region) {}
  ExtentArray(const ExtentArray&) = delete;
  ExtentArray& operator=(const ExtentArray&) = delete;
  ~ExtentArray() {
    while (extents_ > 0) shrink();
  }

  static constexpr std::uint32_t extent_of(Ref ref) noexcept {
    return static_cast<std::uint32_t>(std::bit_width(ref / kFirst + 1)) - 1;
  }
  static constexpr std::uint32_t start_of(std::uint32_t extent) noexcept {
    return ((1U << extent) - 1) * kFirst;
  }
  static constexpr std::uint32_t size_of(std::uint32_t extent) noexcept { return kFirst << extent; }

  [[nodiscard]] T& operator[](Ref ref) const noexcept {
    if (ref < kFirst) return base_[0][ref];
    const std::uint32_t extent = extent_of(ref);
    return base_[extent][ref - start_of(extent)];
  }
  [[nodiscard]] std::uint32_t extents() const noexcept { return extents_; }

  // Makes it as long as another array that it runs beside. False: no room.
  [[nodiscard]] bool resize(std::uint32_t extents) noexcept {
    while (extents_ > extents) shrink();
    while (extents_ < extents) {
      if (!grow()) return false;
    }
    return true;
  }

  [[nodiscard]] bool grow() noexcept {
    if (extents_ == kMaxExtents) return false;
    void* extent = memory_.grow(region_, extents_, size_of(extents_) * sizeof(T));
    if (extent == nullptr) return false;
    base_[extents_++] = static_cast<T*>(extent);
    return true;
  }
  void shrink() noexcept {
    --extents_;
    memory_.shrink(region_, extents_, base_[extents_], size_of(extents_) * sizeof(T));
    base_[extents_] = nullptr;
  }

 private:
  Memory& memory_;
  Region region_;
  std::uint32_t extents_ = 0;
  std::array<T*, kMaxExtents> base_ = {};
};

// The shared part of a pool. `fresh` is authoritative: records at and above it were never used. The
// rest is derived.
struct PoolHead {
  static constexpr std::uint32_t kMaxExtents = ExtentArray<int>::kMaxExtents;

  struct Extent {
    Word<std::uint32_t> fresh;
    Ref free = kNone;
    std::uint32_t used = 0;
  };
  Word<std::uint32_t> extents;
  std::uint32_t open = 0;  // Bit n: extent n has a record to give.
  std::array<Extent, kMaxExtents> extent;
};

// Records of one kind, taken lowest extent first so that a pool that empties can shrink. T has `Ref
// link`, free for the pool's use while the record is not taken, and is_free(), which the zeroes of
// a new extent satisfy.
template <typename T>
class Pool {
 public:
  Pool(PoolHead& head, Memory& memory, Region region) noexcept
      : head_(head), items_(memory, region) {}

  [[nodiscard]] T& operator[](Ref ref) const noexcept { return items_[ref]; }
  [[nodiscard]] At<T> at(Ref ref) const noexcept { return {ref, &items_[ref]}; }

  // Makes sure that the next `count` takes succeed.
  [[nodiscard]] bool reserve(std::uint32_t count) {
    if (head_.open != 0) {
      const auto number = static_cast<std::uint32_t>(std::countr_zero(head_.open));
      if (items_.size_of(number) - head_.extent[number].used >= count) return true;
    }
    return make_room(count);
  }

  // REQUIRES: a reserve() that covers it.
  [[nodiscard]] Ref take() {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(head_.open));
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

  // Every record that is not free, in the order of their places.
  template <typename Visitor>
  void for_each(Visitor&& visit) const {
    for (std::uint32_t number = 0; number < head_.extents.get(); ++number) {
      const Ref start = items_.start_of(number);
      const Ref end = start + head_.extent[number].fresh.get();
      for (Ref ref = start; ref < end; ++ref) {
        if (!items_[ref].is_free()) visit(ref);
      }
    }
  }

  // The derived part from the records.
  void rebuild() noexcept {
    head_.open = 0;
    for (std::uint32_t number = 0; number < head_.extents.get(); ++number) {
      rebuild_extent(number);
    }
  }

  [[nodiscard]] std::uint32_t used() const noexcept {
    std::uint32_t total = 0;
    for (std::uint32_t number = 0; number < head_.extents.get(); ++number) {
      total += head_.extent[number].used;
    }
    return total;
  }

  // One past the highest place ever used.
  [[nodiscard]] Ref end() const noexcept {
    const std::uint32_t extents = head_.extents.get();
    if (extents == 0) return 0;
    return items_.start_of(extents - 1) + head_.extent[extents - 1].fresh.get();
  }
  // Whether there is a record at the place, in use or not.
  [[nodiscard]] bool has(Ref ref) const noexcept {
    const std::uint32_t number = items_.extent_of(ref);
    return number < head_.extents.get() &&
           ref - items_.start_of(number) < head_.extent[number].fresh.get();
  }
  [[nodiscard]] bool live(Ref ref) const noexcept { return has(ref) && !items_[ref].is_free(); }

 private:
  [[nodiscard, gnu::noinline]] bool make_room(std::uint32_t count) {
    while (!has_room(count)) {
      if (!add_extent()) return false;
    }
    return true;
  }

  [[nodiscard]] bool has_room(std::uint32_t count) const noexcept {
    std::uint32_t total = 0;
    for (std::uint32_t open = head_.open; open != 0 && total < count; open &= open - 1) {
      const auto number = static_cast<std::uint32_t>(std::countr_zero(open));
      total += items_.size_of(number) - head_.extent[number].used;
    }
    return total >= count;
  }

  [[nodiscard]] bool add_extent() {
    const std::uint32_t number = head_.extents.get();
    // There may be one that was made, or given back, in a step that was cut.
    if (items_.extents() == number && !items_.grow()) return false;
    PoolHead::Extent& extent = head_.extent[number];
    extent.fresh.set(0);
    extent.free = kNone;
    extent.used = 0;
    head_.extents.publish(number + 1);
    head_.open |= 1U << number;
    return true;
  }

  // Gives back empty extents from the end, but keeps one while those below are more than half full:
  // no thrashing.
  [[gnu::noinline]] void shrink() {
    for (std::uint32_t last = head_.extents.get(); last-- > 1;) {
      if (head_.extent[last].used != 0) return;
      if (head_.extent[last - 1].used > items_.size_of(last - 1) / 2) return;
      head_.open &= ~(1U << last);
      head_.extents.publish(last);
      items_.shrink();
    }
  }

  void rebuild_extent(std::uint32_t number) noexcept {
    PoolHead::Extent& extent = head_.extent[number];
    extent.free = kNone;
    extent.used = 0;
    for (std::uint32_t i = extent.fresh.get(); i-- > 0;) {
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
