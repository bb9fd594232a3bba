#include "airlock/semaphore_seal.hpp"

#include <utility>

#include "seal/steps.hpp"

namespace airlock {

SemaphoreSeal::SemaphoreSeal(std::shared_ptr<Store> store, const GateName& gate,
                             const SemaphoreOptions& options)
    : LockingSeal(
          std::move(store), gate,
          {.permits = Permits{options.limit, options.weight, options.ttl}, .lasting = true}) {}

Outcome<Admission> SemaphoreSeal::try_acquire(const Visitor& who) const {
  return seal::ask(*store(), request(who), who);
}

}  // namespace airlock
