#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "store/forwarding_backend.hpp"

namespace airlock::bench {

// A store that counts the steps that are asked of it. Waiting and looking at the clock are none.
class CountingStore : public Store {
 public:
  explicit CountingStore(const Store& store) : CountingStore(std::make_shared<Counts>(store)) {}

  [[nodiscard]] std::int64_t steps() const noexcept { return counts_->steps; }

 private:
  struct Counts final : internal::ForwardingBackend {
    explicit Counts(const Store& store) : ForwardingBackend(internal::backend_of(store)) {}
    void before(std::string_view /*step*/) override {
      steps.fetch_add(1, std::memory_order_relaxed);
    }
    std::atomic<std::int64_t> steps = 0;
  };

  explicit CountingStore(const std::shared_ptr<Counts>& counts) : Store(counts), counts_(counts) {}

  std::shared_ptr<Counts> counts_;
};

}  // namespace airlock::bench
