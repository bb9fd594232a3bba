#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "airlock/export.hpp"
#include "airlock/joint_seal.hpp"

namespace airlock {

// Seals of any gates and stores, acquired ONE AFTER ANOTHER, the lock first. When one refuses or
// fails, what the others gave is given back: slots released, tokens refunded, the cooldown ended.
//
//   ChainedSeal upload(SemaphoreSeal(host, "uploads", {.limit = 4}),
//                      {RateLimiterSeal(fleet, "vendor", {Rate::parse("50/m")})});
//
// This is less than one step: while the later parts are asked, others may be refused for the sake
// of an admission that then does not come about; and what a process that dies in between has taken
// ends with its ttl. Gates of one group are better off in a GroupSeal, tiers of the lock's own gate
// in a CompositeSeal.
//
// Asked again with the same visitor, slots are not taken twice; tokens are, unless the limiter has
// `dedupe`, and tokens with `dedupe` are not refunded: they are there for the next attempt.
class AIRLOCK_EXPORT ChainedSeal : public JointSeal {
 public:
  // InvalidArgument if a gate comes twice.
  ChainedSeal(const LockingSeal& lock, const std::vector<Seal>& others);

  // `cost` is what the tiers are charged, each of them. SealAcquiringError if a part failed, or if
  // one refused and what was taken before could not be given back; it then ends with its ttl.
  [[nodiscard]] Outcome<Admissions> try_acquire(std::uint32_t cost = 1,
                                                const Visitor& who = {}) const;

 private:
  // Tries all; the failure of one that stays behind.
  [[nodiscard]] std::exception_ptr undo(const Admissions& held, std::uint32_t cost,
                                        const Visitor& who) const;
};

}  // namespace airlock
