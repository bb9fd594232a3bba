#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "airlock/rate_limiter_seal.hpp"
#include "airlock/seal.hpp"
#include "airlock/version.hpp"

namespace airlock {

// A lock or semaphore and another seal: in only if both let in, and what they give is released and
// renewed as the lock's.
//
//   CompositeSeal vendor(SemaphoreSeal(store, "vendor", {.limit = 5}),
//                        {Rate::parse("50/m"), Rate::parse("1000/h")});
//   auto held = vendor.try_acquire();
//
// ONE STEP where it can be (is_atomic()): tiers of the lock's own gate, or a rate limiter or cooldown
// of the same store and group. No slot is held while a tier is asked, and a refusal takes nothing.
//
// Otherwise one after another, the lock first: when the other refuses or fails, the lock is given
// back. Meanwhile others may be refused for the sake of an admission that then does not come about.
//
// Renewing costs no tokens and releasing returns none. For several locks: GroupSeal, ChainedSeal.
class AIRLOCK_EXPORT CompositeSeal : public LockingSeal {
 public:
  // InvalidArgument if the other is a LockingSeal: nobody would release it.
  template <std::derived_from<LockingSeal> Lock, std::derived_from<Seal> Other>
  CompositeSeal(Lock lock, Other other)
      : CompositeSeal(std::make_shared<Lock>(std::move(lock)),
                      std::make_shared<Other>(std::move(other))) {}

  // With tiers of the lock's own gate. InvalidArgument if it has none.
  template <std::derived_from<LockingSeal> Lock>
  CompositeSeal(const Lock& lock, const std::vector<Rate>& rates)
      : CompositeSeal(lock, tiers_at(lock, rates)) {}

  // The same, and InvalidArgument unless it is decided in one step.
  template <typename Lock, typename Other>
  [[nodiscard]] static CompositeSeal atomic(const Lock& lock, const Other& other) {
    CompositeSeal seal(lock, other);
    seal.check_atomic();
    return seal;
  }
  [[nodiscard]] bool is_atomic() const noexcept { return way_ != Way::chained; }

  // As a part of a MultiSeal. InvalidArgument unless all is of one gate.
  operator GateSeal() const;  // NOLINT(google-explicit-constructor): as seals of one gate

  // `cost` is what the tiers of a RateLimiterSeal are charged; InvalidArgument with another seal.
  using LockingSeal::renew;
  using Seal::try_acquire;
  [[nodiscard]] Outcome<Admission> try_acquire(const Visitor& who) const override {
    return try_acquire(1, who);
  }
  [[nodiscard]] Outcome<Admission> try_acquire(std::uint32_t cost, const Visitor& who = {}) const;

  void release(const Token& token) const override { lock_->release(token); }
  void renew(Admission& held, std::optional<AnyDuration> ttl) const override {
    lock_->renew(held, ttl);
  }
  [[nodiscard]] bool is_acquired(const Token& token) const override {
    return lock_->is_acquired(token);
  }
  [[nodiscard]] Duration remaining_lifetime(const Admission& held) const noexcept override {
    return lock_->remaining_lifetime(held);
  }

 private:
  enum class Way : std::uint8_t { one_gate, one_group, chained };

  CompositeSeal(std::shared_ptr<const LockingSeal> lock, std::shared_ptr<const Seal> other);
  [[nodiscard]] static const GateSeal* gate_of(const Seal& seal) noexcept;  // Null: of no one gate.
  [[nodiscard]] static RateLimiterSeal tiers_at(const Seal& lock, const std::vector<Rate>& rates);
  [[nodiscard]] Way find_way() const;
  void check_atomic() const;
  [[nodiscard]] Outcome<Admission> acquire_in_one_group(std::uint32_t cost,
                                                        const Visitor& who) const;
  [[nodiscard]] Outcome<Admission> acquire_in_turn(std::uint32_t cost, const Visitor& who) const;

  std::shared_ptr<const LockingSeal> lock_;
  std::shared_ptr<const Seal> other_;
  const GateSeal* lock_gate_;
  const GateSeal* other_gate_;
  const RateLimiterSeal* rates_;
  Way way_;
  std::optional<GateSeal> combined_;  // one_gate
};

}  // namespace airlock
