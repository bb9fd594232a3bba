#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "model/published_field.hpp"

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

  // `bytes` for extent `number` of a region, or null when there is no more room. They hold zeroes,
  // or what was there when the extent was given back: records that are free.
  [[nodiscard]] virtual void* grow(Region region, std::uint32_t number,
                                   std::size_t bytes) noexcept = 0;
  virtual void shrink(Region region, std::uint32_t number, void* extent,
                      std::size_t bytes) noexcept = 0;

  // Where an extent is or will be, if it does not end with the view of it. Null: there is no room
  // for it.
  [[nodiscard]] virtual void* address(Region /*region*/, std::uint32_t /*number*/,
                                      std::size_t /*bytes*/) const noexcept {
    return nullptr;
  }

  // Whether the extents end with the view of them. Those that other processes see do not.
  [[nodiscard]] virtual bool is_private() const noexcept { return true; }
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
// two loads. This object is one process's view: the extents and their count are shared, the table
// of their addresses is not. Whatever the reference, there is a T: one that cannot be right, because
// the memory it came from is damaged, leads nowhere, which is a few Ts of this process.
template <typename T>
class ExtentArray {
 public:
  static constexpr std::uint32_t kMaxExtents = 24;
  static constexpr std::uint32_t kFirst = 64;  // Items in extent 0; extent n has kFirst << n.

  ExtentArray(Memory& memory, Region region, PublishedField<std::uint32_t>& extents) noexcept
      : memory_(memory), region_(region), extents_(extents) {
    view_.fill(nowhere());
    if (memory.is_private()) return;
    for (max_extents_ = 0; max_extents_ < kMaxExtents; ++max_extents_) {
      const std::uint32_t size = size_of(max_extents_);
      void* const extent = memory.address(region, max_extents_, size * sizeof(T));
      if (extent == nullptr) return;
      view_[max_extents_] = {static_cast<T*>(extent), size - 1};
    }
  }
  ExtentArray(const ExtentArray&) = delete;
  ExtentArray& operator=(const ExtentArray&) = delete;
  ~ExtentArray() {
    if (!memory_.is_private()) return;
    for (std::uint32_t number = extents(); number-- > 0;) give_back(number);
  }

  static constexpr std::uint32_t extent_of(Ref ref) noexcept {
    return static_cast<std::uint32_t>(std::bit_width(ref / kFirst + 1)) - 1;
  }
  static constexpr std::uint32_t start_of(std::uint32_t extent) noexcept {
    return ((1U << extent) - 1) * kFirst;
  }
  static constexpr std::uint32_t size_of(std::uint32_t extent) noexcept { return kFirst << extent; }

  [[nodiscard]] T& operator[](Ref ref) const noexcept {
    if (ref < kFirst) return view_[0].items[ref];
    const std::uint32_t number = extent_of(ref);
    const View& view = view_[number];
    return view.items[(ref - start_of(number)) & view.mask];
  }
  // It will be needed: among many, each is a wait for memory, and these may pass side by side.
  void prefetch(Ref ref) const noexcept { __builtin_prefetch(&(*this)[ref]); }
  [[nodiscard]] std::uint32_t extents() const noexcept {
    return std::min(extents_.get(), max_extents_);
  }

  [[nodiscard]] bool has_same_extents_as(
      const PublishedField<std::uint32_t>& extents) const noexcept {
    return extents_.get() == extents.get();
  }

  // Makes it as long as another array that it runs beside. False: no room.
  [[nodiscard]] bool resize(std::uint32_t extents) {
    while (this->extents() > extents) shrink();
    while (this->extents() < extents) {
      if (!grow()) return false;
    }
    return true;
  }

  [[nodiscard]] bool grow() {
    const std::uint32_t number = extents();
    if (number == max_extents_) return false;
    void* const extent = memory_.grow(region_, number, size_of(number) * sizeof(T));
    if (extent == nullptr) return false;
    // Shared extents never move, and other threads read their addresses without the lock.
    if (memory_.is_private()) view_[number] = {static_cast<T*>(extent), size_of(number) - 1};
    extents_.publish(number + 1);
    return true;
  }
  // REQUIRES: an extent.
  void shrink() {
    const std::uint32_t last = extents() - 1;
    extents_.publish(last);
    give_back(last);
  }

 private:
  struct View {
    T* items;
    std::uint32_t mask;
  };
  static constexpr std::uint32_t kNameable = 27;  // Every Ref is in one of so many extents.

  static View nowhere() noexcept {
    alignas(T) static std::array<std::byte, kFirst * sizeof(T)> items;
    return {reinterpret_cast<T*>(items.data()), kFirst - 1};
  }

  void give_back(std::uint32_t number) noexcept {
    T* const items = view_[number].items;
    if (memory_.is_private()) view_[number] = nowhere();
    memory_.shrink(region_, number, items, size_of(number) * sizeof(T));
  }

  Memory& memory_;
  Region region_;
  PublishedField<std::uint32_t>& extents_;
  std::uint32_t max_extents_ = kMaxExtents;
  std::array<View, kNameable> view_;
};

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
