#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "airlock/store.hpp"
#include "store/shm/process.hpp"

namespace airlock::shm {

// How full the fullest pool of a segment is.
class Fullness {
 public:
  explicit Fullness(const Layout& layout) noexcept : layout_(layout) {}

  // REQUIRES: the lock of the shard.
  void add(const model::ShardHead& shard) noexcept;

  [[nodiscard]] std::string_view pool() const noexcept { return pool_; }
  [[nodiscard]] std::uint64_t percent() const noexcept { return percent_; }

 private:
  void add(std::string_view pool, model::Region region, const model::PoolHead& head) noexcept;

  const Layout& layout_;
  std::string_view pool_ = "gates";
  std::uint64_t percent_ = 0;
};

// What an operator should know of a segment.
[[nodiscard]] std::vector<Finding> examine(const Segment& segment, const Process& process,
                                           const Fullness& fullness);

}  // namespace airlock::shm
