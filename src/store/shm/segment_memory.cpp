#include "store/shm/segment_memory.hpp"

namespace airlock::shm {

void* SegmentMemory::address(model::Region region, std::uint32_t number,
                             std::size_t bytes) const noexcept {
  const Layout::ByteRange range = segment_.layout().extent(shard_, region, number);
  return range.bytes == bytes ? segment_.at<void>(range.offset) : nullptr;
}

void* SegmentMemory::grow(model::Region region, std::uint32_t number, std::size_t bytes) noexcept {
  const Layout::ByteRange range = segment_.layout().extent(shard_, region, number);
  if (range.bytes != bytes || segment_.allocate(range.offset, bytes) != 0) return nullptr;
  return segment_.at<void>(range.offset);
}

void SegmentMemory::shrink(model::Region region, std::uint32_t number, void* /*extent*/,
                           std::size_t /*bytes*/) noexcept {
  if (region == model::Region::visits) return;
  const Layout::ByteRange range = segment_.layout().extent(shard_, region, number);
  segment_.give_back(range.offset, range.bytes);
}

}  // namespace airlock::shm
