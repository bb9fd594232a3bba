#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace airlock::base {

// Random bytes that cannot be guessed: a ChaCha20 stream per thread, keyed by getrandom(2); the key
// changes with every refill, and a forked child takes a new one. Not for signal handlers.
// StoreError if the kernel has no getrandom(2).
void random_bytes(std::span<std::byte> out);

[[nodiscard]] std::uint64_t random64();
[[nodiscard]] std::array<std::uint64_t, 2> random128();

// A seed for the draws of a line: 1 to 2^31 - 2.
[[nodiscard]] std::uint32_t random31();

}  // namespace airlock::base
