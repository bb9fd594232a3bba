#include "airlock/semaphore_seal.hpp"

namespace airlock {

SemaphoreSeal::SemaphoreSeal(const Store& store, const GateName& gate,
                             const SemaphoreOptions& options)
    : GateLockingSeal(
          store, gate,
          {.permits = Permits{options.limit, options.weight, options.ttl}, .releasable = true}) {}

}  // namespace airlock
