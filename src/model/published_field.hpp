#pragma once

#include <atomic>
#include <type_traits>

namespace airlock::model {

// A test may stop an operation after any store to a record, as if the process had died there.
#ifdef AIRLOCK_CUT_POINTS
void cut_point();
#else
inline void cut_point() noexcept {}
#endif

// A field of an authoritative record: what it says survives the death of the process that wrote it.
//
// set() fills in a record that nobody can see yet, or changes a field that stands alone. publish()
// is the one word that makes everything written before it true: neither compiler nor processor
// moves earlier stores behind it, and the compiler moves no later one before it.
template <typename T>
class PublishedField {
  static_assert(std::atomic<T>::is_always_lock_free && std::is_trivially_copyable_v<T>);

 public:
  [[nodiscard]] T get() const noexcept { return value_.load(std::memory_order_relaxed); }
  void set(T value) {
    value_.store(value, std::memory_order_relaxed);
    cut_point();
  }
  // Publishes unless somebody else has changed it meanwhile.
  [[nodiscard]] bool replace(T expected, T value) {
    const bool replaced =
        value_.compare_exchange_strong(expected, value, std::memory_order_acq_rel);
    cut_point();
    return replaced;
  }
  void publish(T value) {
    value_.store(value, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    cut_point();
  }

 private:
  std::atomic<T> value_{};
};

}  // namespace airlock::model
