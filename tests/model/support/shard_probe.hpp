#pragma once

#include <cstdint>
#include <string_view>

#include "model/visits.hpp"

namespace airlock::model {

// Reads what only the rules themselves know.
class ShardProbe {
 public:
  explicit ShardProbe(const Shard& shard) noexcept : shard_(shard) {}

  // Whether a step at the gate that only looks for a holder brings it up to the present first.
  [[nodiscard]] bool due(std::string_view gate, std::uint32_t hash, Micros now) const noexcept {
    const At<Gate> found = shard_.find_gate(gate, hash);
    return found && now >= found->next_due;
  }

 private:
  const Shard& shard_;
};

}  // namespace airlock::model
