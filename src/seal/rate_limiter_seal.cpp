#include "airlock/rate_limiter_seal.hpp"

#include <utility>

#include "airlock/error.hpp"
#include "seal/steps.hpp"

namespace airlock {
RateLimiterSeal::RateLimiterSeal(const Store& store, const GateName& gate, std::vector<Rate> rates,
                                 AnyDuration dedupe)
    : GateSeal(store, gate, {.rates = std::move(rates), .dedupe = dedupe}) {
  if (terms().rates.empty()) throw InvalidArgument("a rate limiter needs a rate");
}

Outcome<Admission> RateLimiterSeal::try_acquire(std::uint32_t cost, const Visitor& who) const {
  return seal::ask(backend(), request(who, cost), who);
}

Outcome<Admission> RateLimiterSeal::peek(std::uint32_t cost) const {
  return ask_in(RateMode::peek, cost, kForever);
}

Outcome<Admission> RateLimiterSeal::try_acquire_at_most(std::uint32_t cost) const {
  return ask_in(RateMode::at_most, cost, kForever);
}

Outcome<Admission> RateLimiterSeal::reserve(std::uint32_t cost, AnyDuration max_delay) const {
  return ask_in(RateMode::reserve, cost, max_delay);
}

Outcome<Admission> RateLimiterSeal::ask_in(RateMode mode, std::uint32_t cost,
                                           Duration max_delay) const {
  Request ask = request({}, cost);
  ask.mode = mode;
  ask.max_delay = max_delay;
  ask.dedupe = Duration(0);
  return seal::ask(backend(), ask, {});
}

}  // namespace airlock
