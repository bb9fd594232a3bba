#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dashboard/sample.hpp"

namespace airlock::server {

// The samples of one gate, oldest first, at ticks that only grow. What did not change since the sample before needs no
// memory, and what changed needs one to three bytes per value.
class Track {
 public:
  // False: the same as before; nothing was stored.
  bool add(std::uint32_t tick, const Sample& sample);

  // Forgets what was replaced before `tick`; the sample that was in effect then stays.
  void drop_before(std::uint32_t tick);
  void clear();

  // Calls `take` for each stored sample.
  void visit(const std::function<void(std::uint32_t tick, const Sample& sample)>& take) const;

  [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }
  [[nodiscard]] std::uint32_t begin() const noexcept { return blocks_.front().begin; }
  [[nodiscard]] std::uint32_t last_change() const noexcept { return last_tick_; }
  [[nodiscard]] const Sample& last() const noexcept { return last_; }
  [[nodiscard]] std::size_t bytes() const noexcept;  // Of memory besides this object.

 private:
  // Can be read without those before it.
  struct Block {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
    std::string bytes = {};
  };

  static constexpr std::uint32_t kBlockSamples = 64;

  std::vector<Block> blocks_;
  std::size_t encoded_ = 0;  // Capacity of all `bytes`.
  std::uint32_t last_tick_ = 0;
  Sample last_;
};

}  // namespace airlock::server
