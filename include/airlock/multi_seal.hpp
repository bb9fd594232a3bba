#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "airlock/seal.hpp"
#include "airlock/version.hpp"

namespace airlock {

// What several gates granted, in the order of the parts. Of a rate limiter or a cooldown there is
// one too, with nothing in it that could be given back.
using Admissions = std::vector<Admission>;

// Several seals as one. The type says how they are acquired: GroupSeal in one step, ChainedSeal one
// after another.
//
// What was acquired is given back and renewed part by part, as LockingSeal does it: rate limiters
// and cooldowns have no part in that. Admissions of another seal are like those of another gate.
class AIRLOCK_EXPORT MultiSeal {
 public:
  [[nodiscard]] const std::vector<GateSeal>& parts() const noexcept { return parts_; }

  // Gives back everything that is still there, the last first, and then throws SealReleasingError
  // if something was not.
  void release(const Admissions& held) const;

  // Renews all, each for `ttl` or as configured, in one call to a store. LeaseExpiredError if one
  // of them is gone; the others are renewed: release them.
  void renew(Admissions& held, std::optional<AnyDuration> ttl = {}) const;

  [[nodiscard]] bool is_acquired(const Admissions& held) const;          // All of them.
  [[nodiscard]] bool is_expired(const Admissions& held) const noexcept;  // Any of them.
  [[nodiscard]] Duration remaining_lifetime(
      const Admissions& held) const noexcept;  // The shortest.

 protected:
  explicit MultiSeal(std::vector<GateSeal> parts);

 private:
  [[nodiscard]] bool is_own(const Admissions& held) const;

  std::vector<GateSeal> parts_;
};

// Gates of one group and one store, decided in ONE STEP: all of them or none, and nobody sees one
// taken without the others.
//
//   GroupSeal copy({SemaphoreSeal(store, "disk/read", {.limit = 4}),
//                   LockSeal(store, "disk/write")});
//   if (auto held = copy.try_acquire()) {
//     ...
//     copy.release(*held);
//   }
class AIRLOCK_EXPORT GroupSeal : public MultiSeal {
 public:
  // InvalidArgument unless all have the same store and the same group, and no gate comes twice.
  explicit GroupSeal(std::vector<GateSeal> parts);

  // `cost` is what the tiers are charged, each of them.
  [[nodiscard]] Outcome<Admissions> try_acquire(std::uint32_t cost = 1,
                                                const Visitor& who = {}) const;
};

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
class AIRLOCK_EXPORT ChainedSeal : public MultiSeal {
 public:
  // InvalidArgument if a gate comes twice.
  ChainedSeal(const GateLockingSeal& lock, const std::vector<GateSeal>& others);

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
