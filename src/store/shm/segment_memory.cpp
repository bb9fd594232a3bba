#include "store/shm/segment_memory.hpp"

namespace airlock::shm {

void* SegmentMemory::address(model::Region region, std::uint32_t number,
                             std::size_t bytes) const noexcept {
  const Layout::Place place = segment_.layout().extent(shard_, region, number);
  return place.bytes == bytes ? segment_.at<void>(place.offset) : nullptr;
}

void* SegmentMemory::grow(model::Region region, std::uint32_t number, std::size_t bytes) noexcept {
  const Layout::Place place = segment_.layout().extent(shard_, region, number);
  if (place.bytes != bytes || segment_.allocate(place.offset, bytes) != 0) return nullptr;
  return segment_.at<void>(place.offset);
}

void SegmentMemory::shrink(model::Region region, std::uint32_t number, void* /*extent*/,
                           std::size_t /*bytes*/) noexcept {
  if (region == model::Region::visits) return;
  const Layout::Place place = segment_.layout().extent(shard_, region, number);
  segment_.give_back(place.offset, place.bytes);
}

}  // namespace airlock::shm
