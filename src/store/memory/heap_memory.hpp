#pragma once

#include "model/extents.hpp"

namespace airlock::memory {

// Extents of this process: small ones from the heap, large ones straight from the kernel and in
// huge pages where it has them, because a walk over many records spends its time looking up pages.
class HeapMemory final : public model::Memory {
 public:
  [[nodiscard]] void* grow(model::Region region, std::uint32_t number,
                           std::size_t bytes) noexcept override;
  void shrink(model::Region region, std::uint32_t number, void* extent,
              std::size_t bytes) noexcept override;
};

}  // namespace airlock::memory
