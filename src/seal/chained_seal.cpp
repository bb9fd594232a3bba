#include <exception>
#include <string>

#include "airlock/error.hpp"
#include "airlock/multi_seal.hpp"
#include "base/quote.hpp"
#include "seal/steps.hpp"

namespace airlock {
namespace {

std::vector<GateSeal> joined(const GateSeal& first, const std::vector<GateSeal>& others) {
  std::vector<GateSeal> parts{first};
  parts.insert(parts.end(), others.begin(), others.end());
  return parts;
}

// Undoes one admission of an attempt that came to nothing.
void take_back(internal::Backend& store, const Admission& admission, const Request& request) {
  if (admission.repeated) return;  // An earlier call took it and answers for it.
  if (request.permits) store.release(admission.token);
  // What `dedupe` remembers lets the next attempt pass without paying, so this one has paid for it.
  if (!request.rates.empty() && request.dedupe == Duration(0)) store.refund(request);
}

[[noreturn]] void throw_not_undone(const GateName& refused_at, const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const StoreError& error) {
    seal::throw_not_undone(refused_at, error);
  }
}

}  // namespace

ChainedSeal::ChainedSeal(const GateLockingSeal& lock, const std::vector<GateSeal>& others)
    : MultiSeal(joined(lock, others)) {}

Outcome<Admissions> ChainedSeal::try_acquire(std::uint32_t cost, const Visitor& who) const {
  const Visitor one = seal::with_id(who);
  Admissions held;
  held.reserve(parts().size());
  for (const GateSeal& part : parts()) {
    Outcome<Admission> answer = Refused{};
    try {
      answer = seal::ask(part.backend(), part.request(one, cost), who);
    } catch (...) {
      static_cast<void>(undo(held, cost, one));  // The failure at hand is the one to tell.
      throw;
    }
    if (!answer) {
      if (const auto failure = undo(held, cost, one)) throw_not_undone(part.gate(), failure);
      Refused refused = answer.error();
      refused.at = held.size();
      return refused;
    }
    held.push_back(*answer);
  }
  return held;
}

std::exception_ptr ChainedSeal::undo(const Admissions& held, std::uint32_t cost,
                                     const Visitor& who) const {
  std::exception_ptr failure;
  for (std::size_t i = held.size(); i-- > 0;) {
    const GateSeal& part = parts()[i];
    try {
      take_back(part.backend(), held[i], part.request(who, cost));
    } catch (const StoreError&) {
      failure = std::current_exception();
    }
  }
  return failure;
}

}  // namespace airlock
