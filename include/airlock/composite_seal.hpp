#pragma once

#include <cstdint>
#include <vector>

#include "airlock/export.hpp"
#include "airlock/seal.hpp"

namespace airlock {

// A lock or semaphore and any number of rate tiers, of one gate, decided in one step: a slot and
// all the tokens, or none of them. No slot is held while a tier is asked, and a refusal takes
// nothing.
//
//   CompositeSeal vendor(SemaphoreSeal(store, "vendor", {.limit = 5}),
//                        {Rate::parse("50/m"), Rate::parse("1000/h")});
//   auto held = vendor.try_acquire();
//
// Renewing costs no tokens and releasing returns none. For several gates: GroupSeal, ChainedSeal.
class AIRLOCK_EXPORT CompositeSeal : public LockingSeal {
 public:
  CompositeSeal(const LockingSeal& lock, const std::vector<Rate>& rates);

  // `cost` is what the tiers are charged.
  [[nodiscard]] Outcome<Admission> try_acquire(std::uint32_t cost = 1,
                                               const Visitor& who = {}) const;
};

}  // namespace airlock
