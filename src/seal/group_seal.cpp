#include <utility>

#include "airlock/error.hpp"
#include "airlock/multi_seal.hpp"
#include "seal/steps.hpp"

namespace airlock {

GroupSeal::GroupSeal(std::vector<GateSeal> parts) : MultiSeal(std::move(parts)) {
  const GateSeal& first = this->parts().front();
  for (const GateSeal& part : this->parts()) {
    if (part.terms().dedupe != Duration(0)) {
      throw InvalidArgument("gate " + part.gate().text() +
                            ": a seal with dedupe cannot be in a group; use a ChainedSeal");
    }
    if (part.store() == first.store() && part.gate().group() == first.gate().group()) continue;
    throw InvalidArgument("gate " + part.gate().text() + ": not in the group and store of " +
                          first.gate().text() + "; use a ChainedSeal");
  }
}

Outcome<Admissions> GroupSeal::try_acquire(std::uint32_t cost, const Visitor& who) const {
  std::vector<Request> requests;
  const Visitor one = seal::with_id(who);
  for (const GateSeal& part : parts()) requests.push_back(part.request(one, cost));
  return seal::ask_all(parts().front().backend(), requests, who);
}

}  // namespace airlock
