#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "airlock/error.hpp"
#include "base/hash.hpp"
#include "model/shard.hpp"
#include "model/support/operation.hpp"
#include "model/support/owner_heads.hpp"

namespace airlock::trial {

// What a step answered.
struct Rejected {};  // InvalidArgument.
using Reply = std::variant<std::monostate, Rejected, Answer, GroupAnswer, bool, std::size_t,
                           Renewal, std::optional<Granted>>;

// Few enough values that different gates often share one.
inline std::uint32_t gate_hash(const std::string& gate) {
  return static_cast<std::uint32_t>(base::hash(gate, 1)) % 2;
}

inline Reply perform_admission(model::Shard& shard, const Operation& operation,
                               model::StepContext& context) {
  std::vector<Request> requests;
  std::vector<std::uint32_t> hashes;
  for (const Ask& ask : operation.asks) {
    requests.push_back(ask.request());
    hashes.push_back(gate_hash(gate_text(ask.gate)));
  }
  const model::Requester requester{.owner = owner_of(operation)};
  try {
    if (operation.step == Step::admit_all)
      return shard.admit_all(requests, hashes, requester, context);
    return shard.admit(requests.front(), hashes.front(), requester, context);
  } catch (const InvalidArgument&) {
    return Rejected{};
  }
}

// The steps that come with a token.
inline Reply perform_with_token(model::Shard& shard, const Operation& operation, const Token& token,
                                model::StepContext& context) {
  const std::uint32_t hash = gate_hash(token.gate.text());
  if (operation.step == Step::release) return shard.release(token, hash, context);
  if (operation.step == Step::disown) return shard.disown(token, hash, context);
  if (operation.step == Step::adopt) return shard.adopt(token, hash, owner_of(operation), context);
  RenewItem item{.token = token, .ttl = operation.length, .weight = operation.number};
  shard.renew(item, hash, context);
  return item.result;
}

inline Reply perform(model::Shard& shard, const Operation& operation, const Token& token,
                     model::StepContext& context) {
  const std::string gate = gate_text(operation.gate);
  const std::uint32_t hash = gate_hash(gate);
  const VisitorId visitor = visitor_id(operation.visitor);
  switch (operation.step) {
    case Step::admit:
    case Step::admit_all:
      return perform_admission(shard, operation, context);
    case Step::leave:
      return shard.leave(gate, hash, visitor, context);
    case Step::mark_absent:
      return shard.mark_absent(gate, hash, visitor, context);
    case Step::refund:
      return shard.refund(operation.asks.front().request(), hash, context), Reply();
    case Step::renew:
    case Step::release:
    case Step::disown:
    case Step::adopt:
      return perform_with_token(shard, operation, token, context);
    case Step::set_limit:
      return shard.set_limit(gate, hash, operation.number, context), Reply();
    case Step::pause:
      return shard.pause(gate, hash, operation.length, operation.reporter, context), Reply();
    case Step::resume:
      return shard.resume(gate, hash, operation.reporter, context);
    case Step::revoke:
      return shard.revoke(gate, hash, operation.all ? std::nullopt : std::optional(visitor),
                          operation.how, context);
    case Step::purge:
      return shard.purge(gate, hash, context);
    case Step::end_owner:
      return shard.end_predecessors(owner_of(operation, 2), context), Reply();
    case Step::sweep:
      return shard.sweep_all(context), Reply();
  }
  return {};
}

// Whether the operation needs one of the tokens given out.
inline bool needs_token(Step step) {
  return step == Step::renew || step == Step::release || step == Step::disown ||
         step == Step::adopt;
}

}  // namespace airlock::trial
