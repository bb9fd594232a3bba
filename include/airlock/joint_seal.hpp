#pragma once

#include <optional>
#include <vector>

#include "airlock/export.hpp"
#include "airlock/seal.hpp"

namespace airlock {

// What several gates granted, in the order of the parts. Of a rate limiter or a cooldown there is
// one too, with nothing in it that could be given back.
using Admissions = std::vector<Admission>;

// Several seals as one. The type says how they are acquired: GroupSeal in one step, ChainedSeal one
// after another.
//
// What was acquired is given back and renewed part by part, as LockingSeal does it: rate limiters
// and cooldowns have no part in that. Admissions of another seal are like those of another gate.
class AIRLOCK_EXPORT JointSeal {
 public:
  [[nodiscard]] const std::vector<Seal>& parts() const noexcept { return parts_; }

  // Gives back everything that is still there, the last first, and then throws SealReleasingError
  // if something was not.
  void release(const Admissions& held) const;

  // Renews all, each for `ttl` or as configured, in one call to a store. LeaseExpiredError if one
  // of them is gone; the others are renewed: release them.
  void renew(Admissions& held, std::optional<Duration> ttl = {}) const;

  [[nodiscard]] bool is_acquired(const Admissions& held) const;          // All of them.
  [[nodiscard]] bool is_expired(const Admissions& held) const noexcept;  // Any of them.
  [[nodiscard]] Duration remaining_lifetime(
      const Admissions& held) const noexcept;  // The shortest.

 protected:
  explicit JointSeal(std::vector<Seal> parts);

 private:
  [[nodiscard]] bool is_own(const Admissions& held) const;

  std::vector<Seal> parts_;
};

}  // namespace airlock
