#pragma once

#include <cstdint>
#include <memory>

#include "airlock/seal.hpp"
#include "airlock/version.hpp"

namespace airlock {

struct SemaphoreOptions {
  std::uint32_t limit = 0;     // What the guarded thing tolerates, all together. No default.
  std::uint32_t weight = 1;    // How much of it one admission uses.
  AnyDuration ttl = kSealTtl;  // A holder that vanished is gone after this, at the latest.
};

// So many at a time.
//
//   SemaphoreSeal erp(store, "erp", {.limit = 10});
//   auto held = erp.try_acquire();
//   if (!held) return busy(held.error().retry_after);
//
// For another weight make another seal of the same gate. Seals that disagree on the limit each keep
// to their own; Store::look() shows it.
class AIRLOCK_EXPORT SemaphoreSeal : public GateLockingSeal {
 public:
  SemaphoreSeal(const Store& store, const GateName& gate, const SemaphoreOptions& options);
};

}  // namespace airlock
