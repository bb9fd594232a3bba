#pragma once

#include <atomic>

// Hazard pointers: a thread names the object that it uses, and an object that was replaced is freed
// once no thread names it. Readers make no atomic read-modify-write and, where membarrier(2) works, no
// fence.
//
//   std::atomic<Config*> current;
//   Retired<Config> retired;
//
//   const Pinned<Config> config(current);                    // Readers.
//   use(*config);
//
//   retired.push(current.exchange(fresh));                   // Whoever replaces it.
//   retired.reclaim([](Config* old) { delete old; return true; });
//
// In a forked child the pins of threads that are not there are gone.

namespace airlock::base {

namespace hazard_detail {

struct Slot {
  std::atomic<const void*> object{nullptr};
  std::atomic<const void*> owner{nullptr};  // A thread, by the address of its t_slot; null: unused.
  Slot* next = nullptr;
  bool borrowed = false;  // To be given back when its pin ends.
};

// The calling thread's slot; one that is always in use before its first pin and when the thread ends.
extern constinit thread_local Slot* t_slot;
// Whether readers have to order their accesses themselves.
extern constinit std::atomic<bool> g_readers_fence;

// Another slot for the calling thread, which becomes t_slot if it has none of its own.
[[nodiscard]] Slot* borrow();
void give_back(Slot& slot) noexcept;
// Whether every pin that was made before the object was replaced is visible from now on.
[[nodiscard]] bool pins_are_visible() noexcept;
[[nodiscard]] bool is_pinned(const void* object) noexcept;

}  // namespace hazard_detail

// What `source` points to, not freed before this ends. May be null. Pins nest, the last one ends first;
// only the outermost of a thread is cheap. Inline, so that it lives in registers.
template <typename T>
class Pinned {
 public:
  // std::bad_alloc: only the first pin of a thread, and nested ones, may need memory.
  [[gnu::always_inline]] explicit Pinned(const std::atomic<T*>& source)
      : slot_(take_slot()), object_(publish(*slot_, source)) {}
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  [[gnu::always_inline]] ~Pinned() {
    slot_->object.store(nullptr, std::memory_order_release);
    if (slot_->borrowed) [[unlikely]]
      hazard_detail::give_back(*slot_);
  }

  explicit operator bool() const noexcept { return object_ != nullptr; }
  [[nodiscard]] T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }

  // Lets go, and pins what `source` points to now.
  void pin_again(const std::atomic<T*>& source) noexcept { object_ = publish(*slot_, source); }

 private:
  using Slot = hazard_detail::Slot;

  [[gnu::always_inline]] static Slot* take_slot() {
    Slot* const slot = hazard_detail::t_slot;
    if (slot->object.load(std::memory_order_relaxed) == nullptr) [[likely]]
      return slot;
    return hazard_detail::borrow();
  }
  [[gnu::always_inline]] static T* publish(Slot& slot, const std::atomic<T*>& source) noexcept {
    T* object = source.load(std::memory_order_acquire);
    while (true) {
      T* const seen = publish(slot, object, source);
      if (seen == object) [[likely]]
        return object;
      object = seen;
    }
  }
  // What `source` has after the pin can be seen by others.
  [[gnu::always_inline]] static T* publish(Slot& slot, T* object,
                                           const std::atomic<T*>& source) noexcept {
    if (hazard_detail::g_readers_fence.load(std::memory_order_relaxed)) [[unlikely]] {
      slot.object.store(object);
      return source.load();
    }
    slot.object.store(object, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return source.load(std::memory_order_acquire);
  }

  Slot* const slot_;
  T* object_;
};

// Objects that were replaced, linked by their member `next_retired`. Takes no lock, so that a forked
// child finds none held. Destroys nothing by itself.
template <typename T>
class Retired {
 public:
  // REQUIRES: sources no longer point to it, changed by a sequentially consistent operation.
  void push(T* object) noexcept {
    object->next_retired = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(object->next_retired, object)) {
    }
  }

  // Calls `free` with each that no thread has pinned; those for which it returns false stay here.
  template <typename Free>
  void reclaim(Free free) {
    if (first_.load(std::memory_order_relaxed) == nullptr) return;
    T* object = take_all();
    const bool visible = hazard_detail::pins_are_visible();
    while (object != nullptr) {
      T* const next = object->next_retired;
      if (!visible || hazard_detail::is_pinned(object) || !free(object)) push(object);
      object = next;
    }
  }

  // The caller has them; the rest follows by `next_retired`.
  [[nodiscard]] T* take_all() noexcept { return first_.exchange(nullptr); }

 private:
  std::atomic<T*> first_{nullptr};
};

}  // namespace airlock::base
