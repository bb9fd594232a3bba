#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "model/records.hpp"

namespace airlock::model {

// Where the list of each process's bound visits begins, so that the end of a process costs what it
// had and not what the shard has. The store keeps the heads beside its processes; a shard without
// them keeps no lists. Derived: rebuild() links the visits again.
class OwnerLists {
 public:
  OwnerLists() = default;

  // `heads` is the first of `count` heads, at most `most`, each `stride` bytes after the last one.
  // Zeroes are empty lists.
  OwnerLists(std::byte* heads, std::size_t stride, const std::atomic<std::uint32_t>& count,
             std::uint32_t most) noexcept
      : heads_(heads), stride_(stride), count_(&count), most_(most) {}

  [[nodiscard]] bool has(std::uint32_t number) const noexcept {
    return number < most_ && number < count_->load(std::memory_order_acquire);
  }

  // REQUIRES: has(number).
  [[nodiscard]] Ref first(std::uint32_t number) const noexcept { return head(number) - 1; }
  void set_first(std::uint32_t number, Ref ref) const noexcept { head(number) = ref + 1; }

  void clear() const noexcept {
    for (std::uint32_t number = 0; has(number); ++number) set_first(number, kNone);
  }

 private:
  [[nodiscard]] std::uint32_t& head(std::uint32_t number) const noexcept {
    return *reinterpret_cast<std::uint32_t*>(heads_ + number * stride_);
  }

  std::byte* heads_ = nullptr;
  std::size_t stride_ = 0;
  const std::atomic<std::uint32_t>* count_ = nullptr;
  std::uint32_t most_ = 0;
};

}  // namespace airlock::model
