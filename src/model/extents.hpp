#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

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

}  // namespace airlock::model
