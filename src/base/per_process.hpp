#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/fork.hpp"

namespace airlock::base {

// Keeps what a forked child has inherited and must not destroy where leak checkers find it.
void leave_alone(void* inherited) noexcept;

// A T of this process's own, made when it is first asked for. A forked child makes itself another;
// the inherited one is neither used nor destroyed there, because threads that are not there may
// have left it in the middle of something.
template <typename T>
class PerProcess {
 public:
  constexpr PerProcess() noexcept = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;
  ~PerProcess() {
    Slot* const slot = slot_.load(std::memory_order_acquire);
    if (is_own(slot)) {
      delete slot;
    } else if (slot != nullptr) {
      leave_alone(slot);
    }
  }

  // `make` returns the T. Of several threads one succeeds.
  template <typename Make>
  [[nodiscard]] T& get(Make&& make) {
    Slot* const slot = slot_.load(std::memory_order_acquire);
    if (is_own(slot)) [[likely]]
      return slot->value;
    return fresh(slot, std::forward<Make>(make));
  }

 private:
  struct Slot {
    explicit Slot(T made) : value(std::move(made)) {}
    std::uint64_t generation = fork_generation();
    T value;
  };

  static bool is_own(const Slot* slot) noexcept {
    return slot != nullptr && slot->generation == fork_generation();
  }

  template <typename Make>
  [[gnu::cold, gnu::noinline]] T& fresh(Slot* old, Make&& make) {
    auto slot = std::make_unique<Slot>(std::forward<Make>(make)());
    if (slot_.compare_exchange_strong(old, slot.get(), std::memory_order_acq_rel)) {
      if (old != nullptr) leave_alone(old);
      return slot.release()->value;
    }
    return old->value;
  }

  std::atomic<Slot*> slot_{nullptr};
};

}  // namespace airlock::base
