#include <algorithm>

#include "model/admit_fast.hpp"
#include "model/tiers.hpp"
#include "model/visits.hpp"

namespace airlock::model {
namespace {

// Those behind the head ask a little later each: a head that does not come costs them this, not a
// stampede.
constexpr Micros kStagger = 50'000;

// Nothing is known of when a gate opens.
constexpr Duration kUnknownRetry = std::chrono::seconds(1);

bool may_leave_record(const Request& request) {
  return (request.permits && !request.line.returning) || request.line.join;
}

}  // namespace

// From here on nothing may fail for want of memory; what is handed over on the way reserves its own.
void Shard::check_room(const Request& request, StepContext& context) {
  if (reserve_records(request)) [[likely]]
    return;
  if (!evict(context) || !reserve_records(request)) throw_no_room("another visitor");
}

bool Shard::reserve_records(const Request& request) {
  const bool leaves_record =
      request.permits.has_value() || request.line.join || request.dedupe > Duration(0);
  const auto rates = static_cast<std::uint32_t>(request.rates.size());
  return (!leaves_record || reserve_visits(1)) && (rates == 0 || tiers_.reserve(2 * rates));
}

Answer Shard::grant_now(At<Gate> gate, const Request& request, const Requester& requester,
                        const RateVerdict& rate, StepContext& context) {
  if (request.permits && !slots_.reserve(*gate)) throw_no_room("another slot");
  if (rate.taken > 0) charge_all(gate, request.rates, rate, context.now);
  if (request.mode != RateMode::peek) count_grant(gate->tallies, 0);
  Fence fence = 0;
  std::uint64_t place = 0;
  std::uint32_t slot = kNone;
  if (request.permits) {
    const At<Visit> visit = new_visit(gate, request, requester, context);
    fence = prepare(gate, visit, context.now + request.permits->ttl.count(), context);
    publish(gate, visit, VisitState::holding, fence);
    place = place_of(visit.ref);
    slot = visit->slot.get();
  } else if (request.dedupe != Duration(0)) {
    const At<Visit> visit = new_visit(gate, request, requester, context);
    const Fence stamp = prepare(gate, visit, context.now + request.dedupe.count(), context);
    publish(gate, visit, VisitState::spent, stamp);
  }
  Answer answer = granted_answer(store_, request, fence, place, rate.taken, rate.info);
  Granted& granted = *std::get_if<Granted>(&answer);
  if (request.permits) granted.expires_in = request.permits->ttl;
  if (slot != kNone) granted.slot = slot;
  granted.delay = rate.delay;
  return answer;
}

Answer Shard::admit_new(At<Gate> gate, const Request& request, const Requester& requester,
                        StepContext& context) {
  if (request.line.returning) return refused(*gate, Reason::late, Duration(0), {});
  check_order(*gate, request);
  if (request.permits) note_limit(*gate, *request.permits);
  RateVerdict rate;
  if (!request.rates.empty()) {
    const RateAsk ask{request.rates, request.mode, request.cost, request.max_delay};
    weigh_all(*gate, ask, context.now, rate);
    if (rate.never) return refused(*gate, Reason::never, kForever, rate.info);
  }
  const Micros paused = paused_until(*gate, context.now);
  const bool clear = present(*gate) == 0 || request.line.barging;
  const bool room = !request.permits || fits(*gate, request.permits->limit,
                                             request.permits->exclusive, request.permits->weight);
  if (paused == 0 && clear && room && rate.allowed) {
    return grant_now(gate, request, requester, rate, context);
  }
  if (rate.allowed) {
    const bool less = request.mode == RateMode::at_most;
    rate.info = standing(*gate, request.rates, less ? rate.taken : request.cost, context.now);
  }
  if (!room) {
    suspect_holders(gate, request.line.join ? Listener::After::in_line : Listener::After::refused);
  }
  if (request.line.join) return join(gate, request, requester, rate.info, context);
  if (paused != 0) return refused(*gate, Reason::paused, Duration(paused - context.now), rate.info);
  if (clear && room) return refused(*gate, Reason::rate, rate.info.retry_after, rate.info);
  return refused(*gate, Reason::full, retry_after(*gate, context.now), rate.info);
}

Answer Shard::admit(const Request& request, std::uint32_t hash, const Requester& requester,
                    StepContext& context) {
  const At<Gate> gate = open(request.gate, hash, context);
  if (is_rate_only(request)) {
    Payment payment(request.rates.front(), request.cost);
    if (try_take(gate, payment, context.now)) return answer_to_payment(request, store_, payment);
  }
  return admit(gate, request, requester, context);
}

// Flat, because an admission without contention is mostly calls otherwise.
[[gnu::flatten]] Answer Shard::admit(At<Gate> gate, const Request& request,
                                     const Requester& requester, StepContext& context) {
  check_room(request, context);
  At<Visit> visit = gate->visits == 0 ? At<Visit>() : find(gate.ref, request.visitor);
  if (visit && visit->state() == VisitState::spent && request.dedupe == Duration(0)) {
    // Law 2: no retry but a new question. What may leave a record takes the place of the old one.
    if (may_leave_record(request)) remove(gate, visit);
    visit = {};
  }
  return visit ? admit_known(gate, visit, request, requester, context)
               : admit_new(gate, request, requester, context);
}

// Who waits for permits, or was handed some, cannot go on by rate alone, nor the other way round.
void Shard::check_kind(const Visit& visit, const Request& request) {
  const bool waits = visit.in_line() || visit.state() == VisitState::handed;
  if (!waits || request.permits.has_value() == (visit.weight.get() != 0)) return;
  throw InvalidArgument("this visitor waits at gate \"" + request.gate.text() +
                        "\" with another kind of request; it must leave first");
}

// The visitor-state table.
[[gnu::noinline]] Answer Shard::admit_known(At<Gate> gate, At<Visit> visit, const Request& request,
                                            const Requester& requester, StepContext& context) {
  check_kind(*visit, request);
  if (visit->state() == VisitState::handed)
    return claimed(gate, visit, request, requester, context);
  if (visit->in_line()) return ask_again(gate, visit, request, requester, context);
  Granted answer = granted(request.gate, visit, context.now);
  answer.repeated = true;
  if (visit->state() == VisitState::spent) {
    answer.rate = standing(*gate, request.rates, request.cost, context.now);
    answer.taken = visit->cost;
    answer.expires_in = Duration(0);
  }
  return answer;
}

Answer Shard::claimed(At<Gate> gate, At<Visit> visit, const Request& request,
                      const Requester& requester, StepContext& context) {
  Granted answer = granted(request.gate, visit, context.now);
  answer.taken = visit->requested_rates.get() != kNone ? visit->cost : 0;
  answer.rate = standing(*gate, request.rates, request.cost, context.now);
  const bool stays = visit->weight.get() != 0;
  claim(gate, visit, requester.owner, request.hold, context);
  answer.expires_in = Duration(stays ? visit->expiry.get() - context.now : 0);
  return answer;
}

// What a waiter that asks again may change: its limit and its rates, not its weight or priority.
void Shard::update_waiter(At<Gate> gate, At<Visit> visit, const Request& request,
                          const Requester& requester) {
  if (request.permits) {
    visit->limit.set(std::max(request.permits->limit, visit->weight.get()));
    raise_line_limit(*gate, *visit);
    note_limit(*gate, *request.permits);
  }
  write_wishes(visit, request.rates);
  visit->cost = request.cost;
  set_owner(visit, request.hold, requester.owner);
  if (request.line.join) visit->patience = request.line.patience.count();
}

Answer Shard::ask_again(At<Gate> gate, At<Visit> visit, const Request& request,
                        const Requester& requester, StepContext& context) {
  check_order(*gate, request);
  const RateAsk ask{request.rates, RateMode::take, request.cost, {}};
  RateVerdict rate;
  weigh_all(*gate, ask, context.now, rate);
  if (rate.never) return refused(*gate, Reason::never, kForever, rate.info);
  update_waiter(gate, visit, request, requester);
  renew_patience(gate, visit, false, context.now);
  advance(gate, context);
  if (visit->state() == VisitState::handed)
    return claimed(gate, visit, request, requester, context);
  return queued(*gate, visit, standing(*gate, request.rates, request.cost, context.now),
                context.now);
}

// Present, for as long as its patience lasts from now.
void Shard::renew_patience(At<Gate> gate, At<Visit> visit, bool several, Micros now) {
  const Ref drawn = gate->drawn.get();
  detach(gate, visit);
  visit->several = several;
  visit->called_until = 0;
  visit->patience_end.set(now + visit->patience);
  visit->publish(VisitState::waiting, visit->stamp());
  attach(gate, visit);
  // Who was drawn and does not fit yet stays drawn, however often it asks.
  if (drawn != gate->drawn.get()) gate->drawn.set(drawn);
}

std::optional<Refused> Shard::line_refuses(Gate& gate, const Request& request, const RateInfo& rate,
                                           Micros now) {
  const std::uint32_t length = waiting(gate);
  if (request.line.max_waiting != 0 && length >= request.line.max_waiting) {
    return refused(gate, Reason::line_full, retry_after(gate, now), rate);
  }
  if (request.line.max_eta == kForever) return std::nullopt;
  const Duration expected(gate.grant_interval * next_position(gate, request.line.priority));
  if (expected > request.line.max_eta) {
    return refused(gate, Reason::late, expected - request.line.max_eta, rate);
  }
  return std::nullopt;
}

// A new waiter at the end of the line.
At<Visit> Shard::enqueue(At<Gate> gate, const Request& request, const Requester& requester,
                         bool several, StepContext& context) {
  if (gate->line.is_empty()) {
    gate->order = request.line.order;
    gate->aging = request.line.aging;
    gate->last_grant = context.now;
  }
  const At<Visit> visit = new_visit(gate, request, requester, context);
  visit->claim_window = request.line.claim_window.count();
  visit->patience = request.line.patience.count();
  visit->dedupe = request.dedupe.count();
  visit->several = several;
  visit->ticket = next_stamp(context);
  visit->order = gate->order;
  visit->aging = gate->aging;
  visit->priority = gate->order == Order::priority ? request.line.priority : 0;
  visit->patience_end.set(context.now + visit->patience);
  write_wishes(visit, request.rates);
  publish(gate, visit, VisitState::waiting, visit->ticket);
  return visit;
}

[[gnu::noinline]] Answer Shard::join(At<Gate> gate, const Request& request,
                                     const Requester& requester, const RateInfo& rate,
                                     StepContext& context) {
  if (auto no = line_refuses(*gate, request, rate, context.now)) return *no;
  const At<Visit> visit = enqueue(gate, request, requester, false, context);
  advance(gate, context);
  if (visit->state() == VisitState::handed)
    return claimed(gate, visit, request, requester, context);
  return queued(*gate, visit, rate, context.now);
}

Granted Shard::granted(const GateName& gate, At<Visit> visit, Micros now) const {
  Granted answer{.token = {store_, gate, visit->visitor, visit->fence(), place_of(visit.ref)},
                 .expires_in = Duration(visit->expiry.get() - now)};
  if (visit->slot.get() != kNone) answer.slot = visit->slot.get();
  return answer;
}

Queued Shard::queued(Gate& gate, At<Visit> visit, const RateInfo& rate, Micros now) {
  const std::uint32_t place = position(gate, visit.ref);
  const Micros event = next_event(gate, now);
  Micros next = visit->patience / 3;
  if (event != kNever) {
    next = std::min(next, std::max<Micros>(event - now, 1) + (place - 1) * kStagger);
  }
  return {.position = place,
          .waiting = waiting(gate),
          .next_check = Duration(std::max<Micros>(next, 1)),
          .eta = Duration(gate.grant_interval * place),
          .rate = rate};
}

[[gnu::noinline]] Refused Shard::refused(Gate& gate, Reason reason, Duration retry_after,
                                         const RateInfo& rate) {
  bump(gate.tallies.refused[static_cast<std::size_t>(reason)]);
  return {.reason = reason, .retry_after = retry_after, .rate = rate};
}

void Shard::uncount_refusal(Gate& gate, Reason reason) {
  PublishedField<std::uint64_t>& refused = gate.tallies.refused[static_cast<std::size_t>(reason)];
  if (refused.get() != 0) refused.set(refused.get() - 1);
}

[[gnu::noinline]] Duration Shard::retry_after(Gate& gate, Micros now) {
  const Micros event = next_event(gate, now);
  return event == kNever ? kUnknownRetry : Duration(std::max<Micros>(event - now, 1));
}

}  // namespace airlock::model
