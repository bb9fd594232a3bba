#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace airlock::base {

// Bytes of the kernel's random source, fetched in blocks per thread; a forked child drops what is
// left of its parent's block. Not for signal handlers. StoreError if the kernel has no
// getrandom(2).
void random_bytes(std::span<std::byte> out);

[[nodiscard]] std::uint64_t random64();

// A seed for the draws of a line: 1 to 2^31 - 2.
[[nodiscard]] std::uint32_t random31();

}  // namespace airlock::base
