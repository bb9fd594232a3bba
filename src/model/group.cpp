#include <algorithm>

#include "model/tiers.hpp"
#include "model/visits.hpp"

namespace airlock::model {

void Shard::check_group_room(Requests requests) {
  const auto n = static_cast<std::uint32_t>(requests.size());
  std::uint32_t tiers = 0;
  for (const Request& request : requests) {
    tiers += 2 * static_cast<std::uint32_t>(request.rates.size());
  }
  constexpr std::uint32_t kSlotNodes = 8;  // More than one slot number needs.
  if (!reserve_visits(n) || !tiers_.reserve(tiers) || !slot_nodes_.reserve(n * kSlotNodes)) {
    throw_no_room("another group");
  }
}

void Shard::open_part(Part& part, const Request& request, std::uint32_t hash,
                      StepContext& context) {
  part.gate = open_gate(request.gate, hash, context);
  part.gate->last_used = context.now;
  part.visit = find(part.gate.ref, request.visitor);
  if (part.visit && part.visit->state() == VisitState::spent) {
    remove(part.gate, part.visit);
    part.visit = {};
  }
}

// Before any of the gates is made: another order or kind at one of them changes nothing.
void Shard::check_group(Requests requests, std::span<const std::uint32_t> hashes,
                        StepContext& context) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const At<Gate> gate = find_gate(requests[i].gate.view(), hashes[i]);
    if (!gate) continue;
    settle(gate, context);
    check_order(*gate, requests[i]);
    const At<Visit> visit = find(gate.ref, requests[i].visitor);
    if (visit) check_kind(*visit, requests[i]);
  }
}

GroupAnswer Shard::admit_all(Requests requests, std::span<const std::uint32_t> hashes,
                             const Requester& requester, StepContext& context) {
  sweep_in_passing(context);
  check_group(requests, hashes, context);
  std::vector<Part> parts(requests.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    open_part(parts[i], requests[i], hashes[i], context);
  }
  check_group_room(requests);
  std::vector<bool> repeated(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const bool inside = part.visit && part.visit->inside();
    repeated[i] = inside && part.visit->state() == VisitState::holding;
    if (requests[i].permits && !inside) note_limit(*part.gate, *requests[i].permits);
    if (part.visit && !inside && !never(*part.gate, requests[i], context.now)) {
      update_waiter(part.gate, part.visit, requests[i], requester);
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<Reason> reason = why_not(parts[i], requests[i], context);
    if (reason) return stop_at(i, *reason, parts, requests, requester, context);
  }
  grant_all(parts, requests, requester, context);
  GroupAnswer answer;
  answer.granted.reserve(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    answer.granted.push_back(granted_part(parts[i], requests[i], repeated[i], context.now));
  }
  return answer;
}

Granted Shard::granted_part(const Part& part, const Request& request, bool repeated,
                            Micros now) const {
  Granted answer = part.visit ? granted(request.gate, part.visit, now)
                              : Granted{.token = {store_, request.gate, request.visitor, 0}};
  answer.repeated = repeated;
  answer.taken = repeated ? 0 : part.rate.taken;
  answer.rate = part.rate.info;
  return answer;
}

// Whether the cost is above a burst. A waiter that asks so keeps what it asked for before.
bool Shard::never(const Gate& gate, const Request& request, Micros now) const {
  if (request.rates.empty()) return false;
  RateVerdict verdict;
  weigh_all(gate, {request.rates, request.mode, request.cost, {}}, now, verdict);
  return verdict.never;
}

// What keeps this visitor out of this gate now; nothing if it is in or could be.
std::optional<Reason> Shard::why_not(Part& part, const Request& request, StepContext& context) {
  Gate& gate = *part.gate;
  if (part.visit && part.visit->inside()) return std::nullopt;
  if (part.visit && part.visit->state() == VisitState::absent) {
    move(part.gate, part.visit, VisitState::waiting);
  }
  const RateAsk ask{request.rates, request.mode, request.cost, request.max_delay};
  part.rate = {};
  if (!request.rates.empty()) weigh_all(gate, ask, context.now, part.rate);
  if (part.rate.never) return Reason::never;
  if (paused_until(gate, context.now) != 0) return Reason::paused;
  const bool clear = present(gate) == 0 || request.line.barging ||
                     (part.visit && candidate(gate, context) == part.visit.ref);
  if (!clear) return Reason::full;
  // A waiter keeps what it came with, but for its limit.
  const bool room =
      part.visit ? fits(gate, *part.visit)
                 : !request.permits || fits(gate, request.permits->limit,
                                            request.permits->exclusive, request.permits->weight);
  if (!room) {
    suspect_holders(part.gate, Listener::After::refused);
    return Reason::full;
  }
  return part.rate.allowed ? std::optional<Reason>() : Reason::rate;
}

// Takes what one gate asks, short of publishing the visit. True: a visit is left to publish.
bool Shard::grant_part(Part& part, const Request& request, const Requester& requester,
                       StepContext& context) {
  if (part.visit && part.visit->state() == VisitState::handed) {
    const bool stays = part.visit->weight.get() != 0;
    part.rate.taken = part.visit->requested_rates.get() != kNone ? part.visit->cost : 0;
    part.rate.info = standing(*part.gate, request.rates, request.cost, context.now);
    claim(part.gate, part.visit, requester.owner, request.hold, context);
    if (!stays) part.visit = {};
    return false;
  }
  if (part.visit && part.visit->inside()) return false;
  if (part.rate.taken > 0) charge_all(part.gate, request.rates, part.rate, context.now);
  count_grant(part.gate->tallies, part.visit ? context.now - part.visit->joined : 0);
  if (request.permits) {
    if (!part.visit) part.visit = new_visit(part.gate, request, requester, context);
    return true;
  }
  if (part.visit) remove(part.gate, part.visit);
  part.visit = {};
  return false;
}

// All or nothing, also for a death in between: the others are pending until the leader, published
// last, is holding. The leader is the visit that waited, if there is one, so that an undone attempt
// keeps its place.
void Shard::grant_all(Parts parts, Requests requests, const Requester& requester,
                      StepContext& context) {
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!grant_part(parts[i], requests[i], requester, context)) continue;
    fresh.insert(parts[i].visit->in_line() ? fresh.begin() : fresh.end(), i);
  }
  for (const std::size_t i : fresh) {
    Part& part = parts[i];
    const Micros expiry = context.now + requests[i].permits->ttl.count();
    part.fence = prepare(part.gate, part.visit, expiry, context);
    part.visit->called_until = 0;
    if (i == fresh.front()) continue;
    part.visit->leader = parts[fresh.front()].visit.ref;
    part.visit->leader_fence = parts[fresh.front()].fence;
    part.visit->waited = part.visit->in_line();
    if (!part.visit->waited) add(part.gate, part.visit);
    part.visit->publish(VisitState::pending, part.fence);
  }
  for (const std::size_t i : fresh) {
    const Part& part = parts[i];
    if (i == fresh.front()) {
      publish(part.gate, part.visit, VisitState::holding, part.fence);
    } else {
      part.visit->publish(VisitState::holding, part.fence);
      attach(part.gate, part.visit);
    }
  }
}

// Waits in the first line that refuses, and in no other; without `join`, in the line where it is.
GroupAnswer Shard::stop_at(std::size_t at, Reason reason, Parts parts, Requests requests,
                           const Requester& requester, StepContext& context) {
  const auto waits = std::ranges::find_if(
      parts, [](const Part& part) { return part.visit && part.visit->in_line(); });
  const bool joins = requests[at].line.join;
  const bool refuses = reason == Reason::never || (!joins && waits == parts.end());
  if (!refuses && !joins) at = static_cast<std::size_t>(waits - parts.begin());
  const Request& request = requests[at];
  Part& part = parts[at];
  const RateInfo rate = standing(*part.gate, request.rates, request.cost, context.now);
  GroupAnswer answer{.at = at};
  if (refuses) {
    answer.because = refused(*part.gate, reason, retry_after(part, reason, context.now), rate);
    return answer;
  }
  if (part.visit) {
    renew_patience(part.gate, part.visit, true, context.now);
  } else if (const auto no = line_refuses(*part.gate, request, rate, context.now)) {
    answer.because = *no;
    return answer;
  } else {
    part.visit = enqueue(part.gate, request, requester, true, context);
  }
  advance(part.gate, context);
  answer.because = queued(*part.gate, part.visit, rate, context.now);
  for (Part& other : parts) {
    if (&other == &part || !other.visit || !other.visit->in_line()) continue;
    remove(other.gate, other.visit);
    settle(other.gate, context);
  }
  return answer;
}

Duration Shard::retry_after(const Part& part, Reason reason, Micros now) {
  if (reason == Reason::paused) return Duration(paused_until(*part.gate, now) - now);
  if (reason == Reason::full) return retry_after(*part.gate, now);
  return part.rate.info.retry_after;
}

}  // namespace airlock::model
