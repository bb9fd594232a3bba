#include "airlock/multi_seal.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "airlock/error.hpp"
#include "seal/steps.hpp"

namespace airlock {

MultiSeal::MultiSeal(std::vector<GateSeal> parts) : parts_(std::move(parts)) {
  if (parts_.empty()) throw InvalidArgument("a multi seal needs at least one part");
  for (auto part = parts_.begin(); part != parts_.end(); ++part) {
    const bool twice = std::any_of(parts_.begin(), part, [&](const GateSeal& other) {
      return other.store() == part->store() && other.gate() == part->gate();
    });
    // The second question would find the visitor inside and ask for nothing more.
    if (twice) {
      throw InvalidArgument(
          "gate " + part->gate().text() +
          ": twice in one multi seal; use a CompositeSeal for rates at the gate of a lock");
    }
  }
}

bool MultiSeal::is_own(const Admissions& held) const {
  return std::ranges::equal(parts_, held, [](const GateSeal& part, const Admission& admission) {
    return part.is_own(admission.token);
  });
}

void MultiSeal::release(const Admissions& held) const {
  if (held.size() != parts_.size()) {
    throw SealReleasingError("nothing released: these admissions belong to another seal");
  }
  std::exception_ptr first;
  for (std::size_t i = parts_.size(); i-- > 0;) {
    if (!parts_[i].terms().releasable) continue;
    try {
      seal::give_back(parts_[i].backend(), parts_[i].gate(), held[i].token);
    } catch (const SealReleasingError&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void MultiSeal::renew(Admissions& held, std::optional<AnyDuration> ttl) const {
  if (!is_own(held)) seal::throw_foreign_renewal(parts_.front().gate());
  std::vector<internal::Backend*> done;
  for (const GateSeal& first : parts_) {
    internal::Backend& store = first.backend();
    if (std::ranges::find(done, &store) != done.end()) continue;
    done.push_back(&store);
    std::vector<seal::Extension> extensions;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const GateSeal& part = parts_[i];
      if (part.store() != first.store() || !part.terms().releasable) continue;
      extensions.push_back({&held[i], ttl.value_or(part.terms().permits->ttl)});
    }
    if (!extensions.empty()) seal::extend(store, extensions);
  }
}

bool MultiSeal::is_acquired(const Admissions& held) const {
  if (!is_own(held)) return false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const GateSeal& part = parts_[i];
    if (part.terms().releasable && !part.backend().holds(held[i].token)) return false;
  }
  return true;
}

bool MultiSeal::is_expired(const Admissions& held) const noexcept {
  return remaining_lifetime(held) == Duration(0);
}

Duration MultiSeal::remaining_lifetime(const Admissions& held) const noexcept {
  if (held.size() != parts_.size()) return Duration(0);
  Duration shortest = kForever;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].terms().releasable) continue;
    shortest = std::min(shortest, held[i].deadline - parts_[i].backend().clock().now());
  }
  return std::max(shortest, Duration(0));
}

}  // namespace airlock
