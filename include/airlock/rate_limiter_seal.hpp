#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "airlock/seal.hpp"
#include "airlock/version.hpp"

namespace airlock {

// So much per time. What was taken comes back by time alone: there is nothing to release.
//
//   RateLimiterSeal api(store, "api", {Rate::parse("10/s"), Rate::parse("1000/h")});
//   auto call = api.try_acquire();
//   if (!call) return busy(call.error().retry_after);
//   header("X-RateLimit-Remaining", call->rate.remaining);
//
// Every tier must pass, in one decision; a refusal takes nothing from any of them. A cost above a
// tier's burst is refused with Reason::never. Both answers say how the tightest tier stands
// (RateInfo).
class AIRLOCK_EXPORT RateLimiterSeal : public Seal, public GateSeal {
 public:
  // One to kMaxRates tiers. With `dedupe` the same visitor, asking again so soon, finds its first
  // answer and pays once.
  RateLimiterSeal(const Store& store, const GateName& gate, std::vector<Rate> rates,
                  AnyDuration dedupe = Duration(0));

  // All of the cost, or nothing.
  using Seal::try_acquire;
  [[nodiscard]] Outcome<Admission> try_acquire(const Visitor& who) const override {
    return try_acquire(1, who);
  }
  [[nodiscard]] Outcome<Admission> try_acquire(std::uint32_t cost, const Visitor& who = {}) const;

  // As try_acquire would answer now; takes nothing.
  [[nodiscard]] Outcome<Admission> peek(std::uint32_t cost = 1) const;

  // As much of it as there is, at least 1: Granted::taken.
  [[nodiscard]] Outcome<Admission> try_acquire_at_most(std::uint32_t cost) const;

  // Takes it now, for use after Granted::delay. A longer delay than `max_delay` is refused. GCRA
  // tiers only.
  [[nodiscard]] Outcome<Admission> reserve(std::uint32_t cost = 1,
                                           AnyDuration max_delay = kForever) const;

 private:
  [[nodiscard]] Outcome<Admission> ask_in(RateMode mode, std::uint32_t cost,
                                          Duration max_delay) const;
};

}  // namespace airlock
