#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "airlock/export.hpp"
#include "airlock/seal.hpp"

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
class AIRLOCK_EXPORT RateLimiterSeal : public Seal {
 public:
  // One to kMaxRates tiers. With `dedupe` the same visitor, asking again so soon, finds its first
  // answer and pays once.
  RateLimiterSeal(std::shared_ptr<Store> store, const GateName& gate, std::vector<Rate> rates,
                  Duration dedupe = Duration(0));

  // All of the cost, or nothing.
  [[nodiscard]] Outcome<Granted> try_acquire(std::uint32_t cost = 1, const Visitor& who = {}) const;

  // As try_acquire would answer now; takes nothing.
  [[nodiscard]] Outcome<Granted> peek(std::uint32_t cost = 1) const;

  // As much of it as there is, at least 1: Granted::taken.
  [[nodiscard]] Outcome<Granted> try_acquire_at_most(std::uint32_t cost) const;

  // Takes it now, for use after Granted::delay. A longer delay than `max_delay` is refused. GCRA
  // tiers only.
  [[nodiscard]] Outcome<Granted> reserve(std::uint32_t cost = 1,
                                         Duration max_delay = kForever) const;

 private:
  [[nodiscard]] Outcome<Granted> ask_in(RateMode mode, std::uint32_t cost,
                                        Duration max_delay) const;
};

}  // namespace airlock
