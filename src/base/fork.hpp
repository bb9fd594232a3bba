#pragma once

#include <atomic>
#include <cstdint>

namespace airlock::base {

// A number, never 0, that stays the same within a process and is another one in its forked child.
// What is cached per process is kept with the number and thrown away when it differs.
//
// Notices fork() and, on Linux 4.14 and later, a bare clone() too. Takes no lock, costs a few
// loads.
[[nodiscard]] inline std::uint64_t fork_generation() noexcept;

namespace fork_detail {

// The word holds the generation; in a forked child it is 0 until somebody asks.
extern std::atomic<std::atomic<std::uint64_t>*> g_word;
std::uint64_t begin_generation() noexcept;

}  // namespace fork_detail

std::uint64_t fork_generation() noexcept {
  const auto* const word = fork_detail::g_word.load(std::memory_order_acquire);
  const std::uint64_t seen = word == nullptr ? 0 : word->load(std::memory_order_acquire);
  return seen != 0 ? seen : fork_detail::begin_generation();
}

}  // namespace airlock::base
