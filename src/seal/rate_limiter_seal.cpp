#include "airlock/rate_limiter_seal.hpp"

#include <utility>

#include "airlock/error.hpp"
#include "seal/steps.hpp"

namespace airlock {
namespace {

// Nothing of an admission lasts here, so nothing has a deadline.
Outcome<Granted> without_deadline(const Outcome<Admission>& answer) {
  if (!answer) return answer.error();
  return Granted(*answer);
}

}  // namespace

RateLimiterSeal::RateLimiterSeal(std::shared_ptr<Store> store, const GateName& gate,
                                 std::vector<Rate> rates, Duration dedupe)
    : Seal(std::move(store), gate, {.rates = std::move(rates), .dedupe = dedupe}) {
  if (terms().rates.empty()) throw InvalidArgument("a rate limiter needs a rate");
}

Outcome<Granted> RateLimiterSeal::try_acquire(std::uint32_t cost, const Visitor& who) const {
  return without_deadline(seal::ask(*store(), request(who, cost), who));
}

Outcome<Granted> RateLimiterSeal::peek(std::uint32_t cost) const {
  return ask_in(RateMode::peek, cost, kForever);
}

Outcome<Granted> RateLimiterSeal::try_acquire_at_most(std::uint32_t cost) const {
  return ask_in(RateMode::at_most, cost, kForever);
}

Outcome<Granted> RateLimiterSeal::reserve(std::uint32_t cost, Duration max_delay) const {
  return ask_in(RateMode::reserve, cost, max_delay);
}

Outcome<Granted> RateLimiterSeal::ask_in(RateMode mode, std::uint32_t cost,
                                         Duration max_delay) const {
  Request ask = request({}, cost);
  ask.mode = mode;
  ask.max_delay = max_delay;
  ask.dedupe = Duration(0);
  return without_deadline(seal::ask(*store(), ask, {}));
}

}  // namespace airlock
