#include "store/memory/heap_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace airlock::memory {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes) noexcept {
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

// Zeroed, and begins at a huge page: what is mapped around it is given back at once.
void* map_huge(std::size_t bytes) noexcept {
  const std::size_t size = round_up(bytes);
  void* const all = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(all);
  const std::size_t before =
      round_up(reinterpret_cast<std::uintptr_t>(begin)) - reinterpret_cast<std::uintptr_t>(begin);
  if (before != 0) munmap(begin, before);
  if (before != kHugePage) munmap(begin + before + size, kHugePage - before);
  madvise(begin + before, size, MADV_HUGEPAGE);  // Without huge pages it is slower, not wrong.
  return begin + before;
}

}  // namespace

void* HeapMemory::grow(model::Region /*region*/, std::uint32_t /*number*/,
                       std::size_t bytes) noexcept {
  return bytes < kHugePage ? std::calloc(1, bytes) : map_huge(bytes);
}

void HeapMemory::shrink(model::Region /*region*/, std::uint32_t /*number*/, void* extent,
                        std::size_t bytes) noexcept {
  if (bytes < kHugePage) {
    std::free(extent);
  } else {
    munmap(extent, round_up(bytes));
  }
}

}  // namespace airlock::memory
