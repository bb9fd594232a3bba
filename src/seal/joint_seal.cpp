#include "airlock/joint_seal.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "airlock/error.hpp"
#include "seal/steps.hpp"

namespace airlock {

JointSeal::JointSeal(std::vector<Seal> parts) : parts_(std::move(parts)) {
  if (parts_.empty()) throw InvalidArgument("a joint seal needs a part");
  for (auto part = parts_.begin(); part != parts_.end(); ++part) {
    const bool twice = std::any_of(parts_.begin(), part, [&](const Seal& other) {
      return other.store() == part->store() && other.gate() == part->gate();
    });
    // The second question would find the visitor inside and ask for nothing more.
    if (twice) {
      throw InvalidArgument("gate " + part->gate().text() +
                            ": twice in one joint seal; CompositeSeal puts rates on a lock's gate");
    }
  }
}

bool JointSeal::is_own(const Admissions& held) const {
  return std::ranges::equal(parts_, held, [](const Seal& part, const Admission& admission) {
    return part.is_own(admission.token);
  });
}

void JointSeal::release(const Admissions& held) const {
  if (held.size() != parts_.size()) {
    throw SealReleasingError("nothing released, these are admissions of another seal");
  }
  std::exception_ptr first;
  for (std::size_t i = parts_.size(); i-- > 0;) {
    if (!parts_[i].terms().lasting) continue;
    try {
      seal::give_back(*parts_[i].store(), parts_[i].gate(), held[i].token);
    } catch (const SealReleasingError&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void JointSeal::renew(Admissions& held, std::optional<Duration> ttl) const {
  if (!is_own(held)) seal::throw_foreign_renewal(parts_.front().gate());
  std::vector<Store*> done;
  for (const Seal& first : parts_) {
    Store& store = *first.store();
    if (std::ranges::find(done, &store) != done.end()) continue;
    done.push_back(&store);
    std::vector<seal::Extension> extensions;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Seal& part = parts_[i];
      if (part.store().get() != &store || !part.terms().lasting) continue;
      extensions.push_back({&held[i], ttl.value_or(part.terms().permits->ttl)});
    }
    if (!extensions.empty()) seal::extend(store, extensions);
  }
}

bool JointSeal::is_acquired(const Admissions& held) const {
  if (!is_own(held)) return false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Seal& part = parts_[i];
    if (part.terms().lasting && !part.store()->holds(held[i].token)) return false;
  }
  return true;
}

bool JointSeal::is_expired(const Admissions& held) const noexcept {
  return remaining_lifetime(held) == Duration(0);
}

Duration JointSeal::remaining_lifetime(const Admissions& held) const noexcept {
  if (held.size() != parts_.size()) return Duration(0);
  Duration shortest = kForever;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].terms().lasting) continue;
    shortest = std::min(shortest, held[i].deadline - parts_[i].store()->clock().now());
  }
  return std::max(shortest, Duration(0));
}

}  // namespace airlock
