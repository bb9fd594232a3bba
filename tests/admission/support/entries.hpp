#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"

// Real threads in real time at one gate of a memory store. Weights are 1 to the limit.

namespace airlock {

inline Airlock crowded_gate(std::uint32_t limit) {
  return {open_store("memory:"),
          "erp",
          {.limit = limit,
           .max_wait = std::chrono::minutes(10),
           .claim_window = std::chrono::minutes(1)}};  // However late a thread runs.
}

template <typename Work>
void in_threads(int threads, Work work) {
  std::vector<std::jthread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back([&work, i] { work(i); });
}

inline void raise_to(std::atomic<std::uint32_t>& peak, std::uint32_t value) {
  std::uint32_t seen = peak;
  while (seen < value && !peak.compare_exchange_weak(seen, value)) {
  }
}

// Everybody comes in, and never more at once than the limit.
inline void expect_limit_kept(std::uint32_t limit, int threads, int entries) {
  const Airlock airlock = crowded_gate(limit);
  std::atomic<std::uint32_t> inside = 0;
  std::atomic<std::uint32_t> peak = 0;
  std::atomic<int> entered = 0;
  in_threads(threads, [&](int thread) {
    const std::uint32_t weight = 1 + static_cast<std::uint32_t>(thread) % limit;
    for (int i = 0; i < entries; ++i) {
      const Outcome<Lease> lease = airlock.enter({.weight = weight});
      if (!lease) continue;
      raise_to(peak, inside += weight);
      ++entered;
      inside -= weight;
    }
  });
  EXPECT_EQ(entered, threads * entries);
  EXPECT_LE(peak, limit);
}

// Who took a place later has a higher fence, whatever it weighs.
inline void expect_order_kept(std::uint32_t limit, int threads, int entries) {
  const Airlock airlock = crowded_gate(limit);
  std::mutex arrival;
  std::size_t arrived = 0;
  std::vector<Fence> fences(static_cast<std::size_t>(threads) * static_cast<std::size_t>(entries));
  in_threads(threads, [&](int thread) {
    const std::uint32_t weight = 1 + static_cast<std::uint32_t>(thread) % limit;
    for (int i = 0; i < entries; ++i) {
      std::unique_lock lock(arrival);
      const std::size_t mine = arrived++;
      Place place = airlock.join({.weight = weight});
      lock.unlock();
      const Outcome<Lease> lease = place.wait();
      fences[mine] = lease ? lease->fence() : 0;
    }
  });
  int inversions = 0;
  for (std::size_t i = 1; i < fences.size(); ++i) inversions += fences[i] <= fences[i - 1] ? 1 : 0;
  EXPECT_EQ(inversions, 0);
  EXPECT_GT(fences.front(), 0U);
}

}  // namespace airlock
