#pragma once

#include <cstdint>
#include <string>

namespace airlock {

// A segment in use, with one bit of it flipped at a time: at every `stride`th byte that has memory.
// Afterwards all kinds of steps are asked of it.
struct BitFlips {
  std::uint64_t stride = 1;
  std::uint64_t seed = 1;

  struct Result {
    std::uint64_t flips = 0;
    std::uint64_t errors = 0;  // Steps that said that something is wrong.
    std::string wrong;         // Empty: no crash, and nothing took long.
  };
  [[nodiscard]] Result run() const;
};

}  // namespace airlock
