#include "base/random.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/chacha.hpp"
#include "base/fork.hpp"
#include "base/posix.hpp"

namespace airlock::base {
namespace {

// A stream keyed by the kernel. Its first bytes become the next key and are gone, so that nothing
// in memory tells what was given out before.
struct RandomBlock {
  std::uint64_t generation = 0;
  std::size_t left = 0;  // Unused bytes, at the end.
  ChachaKey key{};
  std::array<std::byte, 4 * kChachaBlock> bytes{};
};

constinit thread_local RandomBlock t_block{};

void fetch(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = getrandom(out.data(), out.size(), 0);
    if (got >= 0) {
      out = out.subspan(static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      throw_errno("getrandom", errno);
    }
  }
}

void refill(RandomBlock& block, std::uint64_t generation) {
  block.left = 0;
  if (block.generation != generation) {
    fetch(std::as_writable_bytes(std::span(block.key)));
    block.generation = generation;
  }
  chacha20(block.key, block.bytes);
  std::memcpy(block.key.data(), block.bytes.data(), sizeof block.key);
  block.left = block.bytes.size() - sizeof block.key;
}

// At most what a refill gives, so that the loop over a long span is outside the fast path.
void take(std::span<std::byte> out) {
  RandomBlock& block = t_block;
  const std::uint64_t generation = fork_generation();
  if (block.generation != generation || block.left < out.size()) refill(block, generation);
  std::byte* from = block.bytes.data() + (block.bytes.size() - block.left);
  std::memcpy(out.data(), from, out.size());
  std::memset(from, 0, out.size());
  block.left -= out.size();
}

}  // namespace

void random_bytes(std::span<std::byte> out) {
  constexpr std::size_t kMost = sizeof(RandomBlock::bytes) - sizeof(RandomBlock::key);
  while (!out.empty()) {
    const std::size_t size = std::min(out.size(), kMost);
    take(out.first(size));
    out = out.subspan(size);
  }
}

std::uint64_t random64() { return random128()[0]; }

std::array<std::uint64_t, 2> random128() {
  std::array<std::uint64_t, 2> value{};
  take(std::as_writable_bytes(std::span(value)));
  return value;
}

std::uint32_t random31() {
  constexpr std::uint32_t kModulus = 0x7fffffff;
  for (;;) {
    const auto value = static_cast<std::uint32_t>(random64()) & kModulus;
    if (value != 0 && value != kModulus) return value;
  }
}

}  // namespace airlock::base
