#pragma once

#include <cstdint>
#include <cstdlib>

#include "model/extents.hpp"

namespace airlock::trial {

// Extents on the heap, as the memory store has them.
class HeapMemory final : public model::Memory {
 public:
  void* grow(model::Region /*region*/, std::uint32_t /*number*/,
             std::size_t bytes) noexcept override {
    ++extents;
    return std::calloc(1, bytes);
  }
  void shrink(model::Region /*region*/, std::uint32_t /*number*/, void* extent,
              std::size_t /*bytes*/) noexcept override {
    --extents;
    std::free(extent);
  }

  std::size_t extents = 0;
};

}  // namespace airlock::trial
