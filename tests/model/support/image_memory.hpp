#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/records.hpp"
#include "model/shard.hpp"

namespace airlock::trial {

// What a new extent contains.
enum class Fresh {
  zeroes,     // As Memory promises.
  leftovers,  // Free records full of what was there before: nothing but the state may be relied on.
};

// Extents that stay where they are, so that all of them together can be copied away and back.
class ImageMemory final : public model::Memory {
 public:
  explicit ImageMemory(Fresh fresh) : fresh_(fresh) {}

  void* grow(model::Region region, std::uint32_t number, std::size_t bytes) noexcept override {
    std::vector<char>& extent = extents_[static_cast<std::size_t>(region)][number];
    if (extent.empty()) extent.resize(bytes);
    if (fresh_ == Fresh::zeroes) {
      std::memset(extent.data(), 0, bytes);
    } else {
      fill_with_leftovers(region, extent);
    }
    return extent.data();
  }
  void shrink(model::Region /*region*/, std::uint32_t /*number*/, void* /*extent*/,
              std::size_t /*bytes*/) noexcept override {}

  template <typename T>
  [[nodiscard]] T* extent(model::Region region, std::uint32_t number) noexcept {
    return reinterpret_cast<T*>(extents_[static_cast<std::size_t>(region)][number].data());
  }

  template <typename T>
  [[nodiscard]] T& at(model::Region region, model::Ref ref) noexcept {
    using Array = model::ExtentArray<T>;
    const std::uint32_t number = Array::extent_of(ref);
    return extent<T>(region, number)[ref - Array::start_of(number)];
  }

  // Calls visit(ref, record) for every place ever used of a pool.
  template <typename T, typename Visitor>
  void for_each_place(model::Region region, const model::PoolHead& head, Visitor&& visit) {
    using Array = model::ExtentArray<T>;
    for (std::uint32_t number = 0; number < head.extents.get(); ++number) {
      for (std::uint32_t i = 0; i < head.extent[number].fresh.get(); ++i) {
        visit(Array::start_of(number) + i, extent<T>(region, number)[i]);
      }
    }
  }

 private:
  // What was never used looks used too.
  static void fill(std::vector<char>& extent) {
    const bool never_used = std::ranges::all_of(extent, [](char byte) { return byte == 0; });
    if (never_used) std::ranges::fill(extent, '\x11');
  }

  // Marks every record of the extent as free and leaves the rest of it alone.
  template <typename T, typename Free>
  static void fill_records(std::vector<char>& extent, Free&& set_free) {
    fill(extent);
    auto* records = reinterpret_cast<T*>(extent.data());
    for (std::size_t i = 0; i < extent.size() / sizeof(T); ++i) set_free(records[i]);
  }

  template <typename PublishedField>
  static void zero(PublishedField& word) {
    std::memset(static_cast<void*>(&word), 0, sizeof(word));
  }

  static void fill_with_leftovers(model::Region region, std::vector<char>& extent) {
    switch (region) {
      case model::Region::gates:
        return fill_records<model::Gate>(extent, [](model::Gate& gate) { zero(gate.state); });
      case model::Region::visits:
        return fill_records<model::Visit>(extent, [](model::Visit& visit) { zero(visit.word); });
      case model::Region::tiers:
        return fill_records<model::Tier>(extent, [](model::Tier& tier) { zero(tier.state); });
      case model::Region::pauses:
        return fill_records<model::Pause>(extent, [](model::Pause& pause) { zero(pause.state); });
      case model::Region::slots:
        return fill_records<model::SlotNode>(extent, [](model::SlotNode& node) { node.used = 0; });
      case model::Region::deadlines:
      case model::Region::places:
      case model::Region::gate_index:
      case model::Region::visit_index:
        return fill(extent);
    }
  }

  friend class Image;

  using Extents = std::array<std::vector<char>, model::PoolHead::kMaxExtents>;

  Fresh fresh_;
  std::array<Extents, model::kRegions> extents_;
};

// A copy of everything that a shard is: what it shares and its own view of it.
class Image {
 public:
  Image(const ImageMemory& memory, const model::ShardHead& head, const model::Shard& shard)
      : extents_(memory.extents_) {
    std::memcpy(head_.data(), static_cast<const void*>(&head), sizeof(head));
    std::memcpy(shard_.data(), static_cast<const void*>(&shard), sizeof(shard));
  }

  // REQUIRES: the objects that it was taken of. Extents stay in place, a shard is plain pointers and counts.
  void restore(ImageMemory& memory, model::ShardHead& head, model::Shard& shard) const {
    for (std::size_t region = 0; region < extents_.size(); ++region) {
      for (std::size_t number = 0; number < extents_[region].size(); ++number) {
        const std::vector<char>& saved = extents_[region][number];
        std::vector<char>& extent = memory.extents_[region][number];
        if (!saved.empty()) std::memcpy(extent.data(), saved.data(), saved.size());
        if (saved.empty() && !extent.empty()) std::memset(extent.data(), 0, extent.size());
      }
    }
    std::memcpy(static_cast<void*>(&head), head_.data(), sizeof(head));
    std::memcpy(static_cast<void*>(&shard), shard_.data(), sizeof(shard));
  }

 private:
  decltype(ImageMemory::extents_) extents_;
  std::array<char, sizeof(model::ShardHead)> head_;
  std::array<char, sizeof(model::Shard)> shard_;
};

}  // namespace airlock::trial
