#include "store/shm/layout.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace airlock::shm {
namespace {

using model::Region;

constexpr std::uint32_t kMaxScale = 16;

// In the order of Region.
constexpr std::array<std::uint64_t, model::kRegions> kItemSizes = {
    sizeof(model::Gate),     sizeof(model::Visit), sizeof(model::ByDeadline),
    sizeof(model::ByOrder),  sizeof(model::Tier),  sizeof(model::Pause),
    sizeof(model::SlotNode), sizeof(model::Ref),   sizeof(model::Ref)};

using Extents = model::ExtentArray<int>;

constexpr std::uint64_t round_up(std::uint64_t bytes) noexcept {
  return (bytes + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}

// Pauses are few, and a node of slot numbers serves more than 64 visitors.
std::uint32_t extents_of(Region region, std::uint32_t scale) noexcept {
  constexpr std::uint32_t kFewer = 4;
  const bool few = region == Region::pauses || region == Region::slots;
  return few ? std::max(scale, kFewer + 2) - kFewer : scale;
}

}  // namespace

Layout::Layout(std::uint32_t scale) noexcept : scale_(scale) {
  for (std::size_t region = 0; region < model::kRegions; ++region) {
    extents_[region] = extents_of(static_cast<Region>(region), scale);
    starts_[region] = shard_size_;
    shard_size_ += round_up(Extents::start_of(extents_[region]) * kItemSizes[region]);
  }
  size_ = kRegions + kShards * shard_size_;
}

Layout Layout::within(std::uint64_t size) noexcept {
  std::uint32_t scale = kMaxScale;
  while (scale > 0 && Layout(scale).size() > size) --scale;
  return Layout(scale);
}

std::uint32_t Layout::capacity(model::Region region) const noexcept {
  return Extents::start_of(extents_[static_cast<std::size_t>(region)]);
}

Layout::ByteRange Layout::extent(std::uint32_t shard, model::Region region,
                                 std::uint32_t number) const noexcept {
  const auto which = static_cast<std::size_t>(region);
  if (number >= extents_[which]) return {};
  return {.offset = kRegions + shard * shard_size_ + starts_[which] +
                    Extents::start_of(number) * kItemSizes[which],
          .bytes = Extents::size_of(number) * kItemSizes[which]};
}

std::uint64_t fingerprint() noexcept {
  std::uint64_t all = kShards;
  const auto add = [&all](std::uint64_t value) { all = base::hash(all, value, kLayoutVersion); };
  for (const std::uint64_t size : kItemSizes) add(size);
  add(sizeof(Header));
  add(sizeof(ProcessRecord));
  add(sizeof(ShardControl));
  add(sizeof(model::ShardHead));
  add(kMaxProcesses);
  add(offsetof(ShardControl, head));
  return all;
}

}  // namespace airlock::shm
