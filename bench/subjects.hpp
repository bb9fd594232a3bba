#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "airlock/store.hpp"
#include "harness.hpp"

// What several rows use.

namespace airlock::bench {

// Outlives every run.
inline constexpr Duration kLong = std::chrono::hours(24);

[[nodiscard]] inline Permits permits(std::uint32_t limit) { return {.limit = limit, .ttl = kLong}; }

// The floor of a store in this process: so many times lock, read the clock, unlock.
class MutexAndClock final : public Subject {
 public:
  explicit MutexAndClock(std::uint32_t times) : times_(times) {}
  void run(std::uint64_t operations) override;
  void check(std::uint64_t operations) override;

 private:
  std::mutex mutex_;
  std::uint32_t times_;
  std::uint64_t reads_ = 0;
  std::chrono::steady_clock::time_point last_;
};

// Asks one gate of a new store again and again; with permits every admission is given back before the next.
class AskOneGate : public Subject {
 public:
  // Keep what the request's rates point to.
  explicit AskOneGate(const Request& request);
  AskOneGate(Store store, const Request& request);
  void run(std::uint64_t operations) override;
  void check(std::uint64_t operations) override;

 protected:
  [[nodiscard]] Request& request() noexcept { return request_; }
  void ask();

 private:
  Store store_;
  Request request_;
  std::uint64_t released_ = 0;
};

// So many admissions and nothing else: none refused, none ended by itself.
void require_grants(const GateView& gate, std::uint64_t grants);

}  // namespace airlock::bench
