#include "base/hazard.hpp"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace airlock::base {

namespace {

constinit hazard_detail::Slot g_none{.object =
                                         &g_none};  // A pin that finds it borrows another one.

}  // namespace

constinit thread_local hazard_detail::Slot* hazard_detail::t_slot = &g_none;
constinit std::atomic<bool> hazard_detail::g_readers_fence{true};

namespace {

using hazard_detail::g_readers_fence;
using hazard_detail::Slot;
using hazard_detail::t_slot;

constinit std::atomic<Slot*> g_slots{nullptr};  // Grows only.
constinit std::atomic<bool> g_set_up{false};
constinit thread_local bool t_ended = false;

const void* this_thread() noexcept { return &t_slot; }

// Its threads but the calling one are not there.
void forget_other_threads() noexcept {
  for (Slot* slot = g_slots.load(); slot != nullptr; slot = slot->next) {
    if (slot->owner.load() == this_thread()) continue;
    slot->object.store(nullptr);
    slot->owner.store(nullptr);
  }
}

int membarrier(int command) noexcept {
  return static_cast<int>(syscall(SYS_membarrier, command, 0, 0));
}

bool has_membarrier() noexcept {
  const int commands = membarrier(MEMBARRIER_CMD_QUERY);
  return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

// Registered when first needed: that may take long where other threads run.
bool fence_all_threads() noexcept {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return true;
  return errno == EPERM && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

void set_up() noexcept {
  if (g_set_up.exchange(true)) return;
  pthread_atfork(nullptr, nullptr, forget_other_threads);
  if (has_membarrier()) g_readers_fence = false;
}

Slot* find_unused() noexcept {
  for (Slot* slot = g_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    const void* nobody = nullptr;
    if (slot->owner.load(std::memory_order_relaxed) == nullptr &&
        slot->owner.compare_exchange_strong(nobody, this_thread())) {
      return slot;
    }
  }
  return nullptr;
}

Slot* add_slot() {
  auto slot = std::make_unique<Slot>();
  slot->owner = this_thread();
  slot->next = g_slots.load();
  while (!g_slots.compare_exchange_weak(slot->next, slot.get())) {
  }
  return slot.release();
}

// Gives the slot of a thread back when the thread ends. Pins of destructors that run even later
// borrow one each.
struct AtThreadEnd {
  AtThreadEnd() noexcept = default;
  AtThreadEnd(const AtThreadEnd&) = delete;
  AtThreadEnd& operator=(const AtThreadEnd&) = delete;
  void is_needed() const noexcept {}  // To name it makes it.
  ~AtThreadEnd() {
    t_ended = true;
    hazard_detail::give_back(*std::exchange(t_slot, &g_none));
  }
};

thread_local AtThreadEnd t_at_end;  // Made when a thread first names it.

void keep_for_this_thread(Slot* slot) {
  t_slot = slot;
  t_at_end.is_needed();
}

}  // namespace

Slot* hazard_detail::borrow() {
  set_up();
  Slot* slot = find_unused();
  if (slot == nullptr) slot = add_slot();
  slot->borrowed = t_slot != &g_none || t_ended;
  if (!slot->borrowed) keep_for_this_thread(slot);
  return slot;
}

void hazard_detail::give_back(Slot& slot) noexcept {
  slot.owner.store(nullptr, std::memory_order_release);
}

bool hazard_detail::pins_are_visible() noexcept {
  if (g_readers_fence && !has_membarrier()) return true;
  return fence_all_threads();
}

bool hazard_detail::is_pinned(const void* object) noexcept {
  for (const Slot* slot = g_slots.load(); slot != nullptr; slot = slot->next) {
    if (slot->object.load() == object) return true;
  }
  return false;
}

}  // namespace airlock::base
