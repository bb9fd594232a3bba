#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "lincheck/support/history.hpp"

namespace airlock::lincheck {

// What one client did, in memory that outlives it. Each operation is written down before it begins and
// completed when it is answered; whoever dies in between leaves it unanswered.
class Ring {
 public:
  static constexpr std::size_t kMost = 40;

  void clear() noexcept { count_.store(0); }

  Operation& begin(Operation operation) {
    operation.called = now();
    return add(operation);
  }
  static void end(Operation& operation) noexcept {
    std::atomic_ref(operation.returned).store(now(), std::memory_order_release);
  }
  Operation& add(const Operation& operation) {
    Operation& place = operations_.at(count_.load());
    place = operation;
    count_.fetch_add(1, std::memory_order_release);
    return place;
  }
  // It surely did not happen.
  void drop_last() noexcept { count_.fetch_sub(1); }

  // When the client ended or is dead.
  [[nodiscard]] History history() const {
    return {operations_.begin(), operations_.begin() + count_.load()};
  }

 private:
  std::atomic<std::uint32_t> count_ = 0;
  std::array<Operation, kMost> operations_ = {};
};

}  // namespace airlock::lincheck
