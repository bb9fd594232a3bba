#pragma once

#include "store/shm/segment.hpp"

namespace airlock::shm {

// The extents of one shard, each at its place in the segment.
class SegmentMemory final : public model::Memory {
 public:
  SegmentMemory(const Segment& segment, std::uint32_t shard) noexcept
      : segment_(segment), shard_(shard) {}

  [[nodiscard]] void* grow(model::Region region, std::uint32_t number,
                           std::size_t bytes) noexcept override;

  // Visits keep their memory: who releases without the lock may look there at any time.
  void shrink(model::Region region, std::uint32_t number, void* extent,
              std::size_t bytes) noexcept override;

  [[nodiscard]] void* address(model::Region region, std::uint32_t number,
                              std::size_t bytes) const noexcept override;
  [[nodiscard]] bool is_private() const noexcept override { return false; }

 private:
  const Segment& segment_;
  std::uint32_t shard_;
};

}  // namespace airlock::shm
