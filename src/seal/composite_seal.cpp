#include "airlock/composite_seal.hpp"

#include "seal/steps.hpp"

namespace airlock {

CompositeSeal::CompositeSeal(const LockingSeal& lock, const std::vector<Rate>& rates)
    : LockingSeal(lock, rates) {}

Outcome<Admission> CompositeSeal::try_acquire(std::uint32_t cost, const Visitor& who) const {
  return seal::ask(*store(), request(who, cost), who);
}

}  // namespace airlock
