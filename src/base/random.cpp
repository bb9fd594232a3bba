#include "base/random.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/fork.hpp"
#include "base/posix.hpp"

namespace airlock::base {
namespace {

struct Block {
  std::uint64_t generation = 0;
  std::size_t left = 0;  // Unused bytes, at the end.
  std::array<std::byte, 512> bytes{};
};

constinit thread_local Block t_block{};

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

void refill(Block& block, std::uint64_t generation) {
  block.left = 0;
  fetch(block.bytes);
  block.generation = generation;
  block.left = block.bytes.size();
}

// At most a block, so that the loop over a long span is outside the fast path.
void take(std::span<std::byte> out) {
  Block& block = t_block;
  const std::uint64_t generation = fork_generation();
  if (block.generation != generation || block.left < out.size()) refill(block, generation);
  std::memcpy(out.data(), block.bytes.data() + (block.bytes.size() - block.left), out.size());
  block.left -= out.size();
}

}  // namespace

void random_bytes(std::span<std::byte> out) {
  while (!out.empty()) {
    const std::size_t size = std::min(out.size(), t_block.bytes.size());
    take(out.first(size));
    out = out.subspan(size);
  }
}

std::uint64_t random64() {
  std::uint64_t value = 0;
  take(std::as_writable_bytes(std::span(&value, 1)));
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
