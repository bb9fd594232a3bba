#include "model/support/reference_model.hpp"

#include <algorithm>

#include "airlock/error.hpp"

namespace airlock::reference {

using namespace std::chrono_literals;

// --- gates and visits ---

Model::Gate& Model::open(const std::string& name) {
  Gate& gate = gates_.try_emplace(name, Gate{.name = name}).first->second;
  gate.last_used = now_;
  return gate;
}

Model::Gate* Model::find(const std::string& name) {
  const auto found = gates_.find(name);
  return found == gates_.end() ? nullptr : &found->second;
}

Model::Visit* Model::find_visit(Gate& gate, const VisitorId& visitor) {
  const auto found = std::ranges::find(gate.visits, visitor, &Visit::visitor);
  return found == gate.visits.end() ? nullptr : &*found;
}

Model::Visit* Model::holder(Gate& gate, const Token& token) {
  gate.last_used = now_;
  if (!quiet_ || due(gate)) settle(gate);
  Visit* visit = find_visit(gate, token.visitor);
  if (visit == nullptr || !visit->inside() || !visit->permits) return nullptr;
  return visit->fence == token.fence ? visit : nullptr;
}

void Model::erase(Gate& gate, const VisitorId& visitor) {
  std::erase_if(gate.visits, [&](const Visit& visit) { return visit.visitor == visitor; });
}

// Limits disagree when those who are at the gate together came with different ones.
void Model::note_limit(Gate& gate, const Permits& permits) {
  if (gate.visits.empty()) {
    gate.limits_disagree = false;
  } else if (gate.limit_seen != 0 && gate.limit_seen != permits.limit) {
    gate.limits_disagree = true;
  }
  gate.limit_seen = permits.limit;
  gate.exclusive_seen = permits.exclusive;
}

// --- what follows from the time and from what happened ---

// Whether time alone has changed something since the gate was last settled. A lottery may find a winner at any moment,
// since chances change with time; nobody can count on it.
bool Model::due(Gate& gate) {
  const auto ran_out = [&](const Visit& visit) { return visit.deadline() <= now_; };
  const auto ended = [&](const auto& pause) { return pause.second <= now_; };
  if (std::ranges::any_of(gate.visits, ran_out) || std::ranges::any_of(gate.pauses, ended))
    return true;
  const std::vector<Visit*> present = present_in(gate);
  const bool drawn = gate.order == Order::lottery || gate.order == Order::aging_lottery;
  if (present.empty() || drawn || !gate.pauses.empty()) return false;
  const Visit& head = *present.front();
  const bool room = !head.permits || fits(gate, *head.permits, in_use(gate));
  return room && !head.called_until && weigh(gate, head).allowed;
}

void Model::settle(Gate& gate) {
  end_what_ran_out(gate);
  serve_line(gate);
}

void Model::end_what_ran_out(Gate& gate) {
  std::erase_if(gate.pauses, [&](const auto& pause) { return pause.second <= now_; });
  lapse(gate);
  std::erase_if(gate.visits, [&](const Visit& visit) {
    if (visit.deadline() > now_) return false;
    if (visit.in_line()) ++gate.counters.abandoned;
    if (visit.state == State::holding) {
      ++(visit.revoked ? gate.counters.revoked : gate.counters.expired);
    }
    return true;
  });
}

// Hand-overs and calls that nobody answered: back to the place in the line, absent.
void Model::lapse(Gate& gate) {
  std::vector<Visit*> handed;
  for (Visit& visit : gate.visits) {
    if (visit.called_until && visit.in_line() && *visit.called_until <= now_) {
      set_absent(visit);
    }
    if (visit.state == State::handed && visit.expiry <= now_) handed.push_back(&visit);
  }
  std::ranges::sort(handed, {},
                    [](const Visit* visit) { return std::pair(visit->expiry, visit->expiry_set); });
  for (Visit* visit : handed) {
    ++gate.counters.missed;
    refund_all(gate, visit->rates, visit->cost);
    if (visit->patience_end > now_) rejoin(gate, *visit);
    pass_over(gate, *visit);
  }
}

// Back to the line, which may have begun anew meanwhile.
void Model::rejoin(Gate& gate, Visit& visit) {
  if (line_of(gate).empty()) {
    gate.order = visit.order;
    gate.aging = visit.aging;
  }
  visit.order = gate.order;
  visit.aging = gate.aging;
}

void Model::set_absent(Visit& visit) {
  visit.state = State::absent;
  visit.drawn = false;
  visit.called_until.reset();
}

// Who cannot be reached or does not come keeps its place for as long as its patience lasts.
void Model::pass_over(Gate& gate, Visit& visit) {
  if (visit.patience_end > now_) return set_absent(visit);
  ++gate.counters.abandoned;
  erase(gate, visit.visitor);
}

void Model::serve_line(Gate& gate) {
  if (paused_until(gate)) return;
  for (Visit* next = candidate(gate); next != nullptr && hand_over(gate, *next);) {
    next = candidate(gate);
  }
  gate.draw = draw_;
}

// Hands over, or passes over one who cannot be told. False: it must wait, and everybody behind it.
bool Model::hand_over(Gate& gate, Visit& visit) {
  if (visit.permits && !fits(gate, *visit.permits, in_use(gate))) return false;
  if (!weigh(gate, visit).allowed) return false;
  if (unreachable_.contains(visit.visitor)) {
    pass_over(gate, visit);
    return true;
  }
  if (visit.several) {
    if (visit.called_until) return false;
    told_.insert(visit.visitor);
    visit.called_until = now_ + visit.claim_window;
    visit.patience_end = std::max(visit.patience_end, *visit.called_until);
    return false;
  }
  charge_all(gate, visit.rates, visit.cost);
  const Duration interval = now_ - gate.line_since;
  gate.interval = gate.interval == 0us ? interval : (7 * gate.interval + interval + 4us) / 8;
  gate.line_since = now_;
  let_in(gate, visit, State::handed, now_ + visit.claim_window);
  told_.insert(visit.visitor);
  return true;
}

// --- who is next ---

std::vector<Model::Visit*> Model::line_of(Gate& gate) {
  std::vector<Visit*> line;
  for (Visit& visit : gate.visits) {
    if (visit.in_line()) line.push_back(&visit);
  }
  std::ranges::sort(line, [](const Visit* a, const Visit* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->arrival < b->arrival;
  });
  return line;
}

std::vector<Model::Visit*> Model::present_in(Gate& gate) {
  std::vector<Visit*> line = line_of(gate);
  std::erase_if(line, [](const Visit* visit) { return visit->state == State::absent; });
  return line;
}

// A lottery keeps to its draw until that visitor is in or away, so that a heavy one is not drawn over by light ones.
// What is drawn while there is nothing to win is forgotten, the number too: else who comes later would have no chance,
// and how often somebody looked would change who wins.
Model::Visit* Model::candidate(Gate& gate) {
  const std::vector<Visit*> present = present_in(gate);
  if (present.empty()) return nullptr;
  if (gate.order == Order::fifo || gate.order == Order::priority) return present.front();
  const auto kept = std::ranges::find_if(present, &Visit::drawn);
  if (kept != present.end()) return *kept;
  const std::uint64_t before = draw_;
  Visit* next = draw_one(gate, present);
  next->drawn = has_something_to_win(gate, *next);
  if (!next->drawn) draw_ = before;
  return next;
}

// All that it asks for, or a part.
bool Model::has_something_to_win(Gate& gate, const Visit& visit) {
  if (visit.permits && !fits(gate, *visit.permits, in_use(gate))) {
    Permits least = *visit.permits;
    least.weight = 1;
    return fits(gate, least, in_use(gate));
  }
  const Verdict verdict = weigh(gate, visit);
  return verdict.allowed || verdict.before.remaining > 0;
}

std::uint32_t Model::draw_below(std::uint32_t n) {
  draw_ = draw_ * 48'271 % 2'147'483'647;
  return static_cast<std::uint32_t>(draw_ % n);
}

std::uint64_t Model::tickets(const Gate& gate, const Visit& visit) const {
  const auto waited = static_cast<std::uint64_t>((now_ - visit.joined) / 1ms);
  return std::min<std::uint64_t>(gate.aging.base + waited * gate.aging.per_second / 1'000,
                                 gate.aging.max);
}

Model::Visit* Model::draw_one(Gate& gate, const std::vector<Visit*>& present) {
  const auto count = static_cast<std::uint32_t>(present.size());
  if (gate.order == Order::lottery) return present[draw_below(count)];
  std::uint64_t most = 0;
  for (const Visit* visit : present) most = std::max(most, tickets(gate, *visit));
  Visit* oldest = nullptr;
  for (int i = 0; i < 64; ++i) {
    Visit* tried = present[draw_below(count)];
    if (draw_below(static_cast<std::uint32_t>(most)) < tickets(gate, *tried)) return tried;
    if (oldest == nullptr || tried->arrival < oldest->arrival) oldest = tried;
  }
  return oldest;
}

// --- room ---

std::uint32_t Model::in_use(const Gate& gate) {
  std::uint32_t sum = 0;
  for (const Visit& visit : gate.visits) {
    if (visit.inside()) sum += visit.weight();
  }
  return sum;
}

std::uint32_t Model::effective_limit(const Gate& gate, std::uint32_t limit, bool exclusive) {
  if (!gate.limit_override) return limit;
  return exclusive ? std::min(*gate.limit_override, limit) : *gate.limit_override;
}

// By the limit of the newest request; without one only rates are asked for.
std::uint32_t Model::limit_in_effect(const Gate& gate) {
  return effective_limit(gate, gate.limit_seen, gate.exclusive_seen && gate.limit_seen != 0);
}

bool Model::fits(const Gate& gate, const Permits& permits, std::uint32_t in_use_by_others) {
  const std::uint32_t limit = effective_limit(gate, permits.limit, permits.exclusive);
  if (in_use_by_others + permits.weight <= limit) return true;
  const bool heavier_than_the_override = gate.limit_override && permits.weight > limit;
  return heavier_than_the_override && limit >= 1 && in_use_by_others == 0;
}

Slot Model::lowest_free_slot(const Gate& gate) {
  for (std::uint32_t slot = 0;; ++slot) {
    const bool taken = std::ranges::any_of(
        gate.visits, [&](const Visit& visit) { return visit.inside() && visit.slot == slot; });
    if (!taken) return slot;
  }
}

std::optional<Duration> Model::paused_until(const Gate& gate) {
  std::optional<Duration> end;
  for (const auto& [reporter, until] : gate.pauses) end = std::max(end.value_or(until), until);
  return end;
}

// --- rates ---

Tier* Model::tier_of(Gate& gate, const Rate& rate) {
  for (Tier& tier : gate.tiers) {
    if (tier.rate.algorithm == rate.algorithm && tier.rate.period == rate.period) return &tier;
  }
  return nullptr;
}

Model::Verdict Model::peek(Gate& gate, const Request& request) {
  return weigh(gate, request.rates, request.cost, RateMode::peek, kForever);
}

Model::Verdict Model::weigh(Gate& gate, const Request& request) {
  return weigh(gate, request.rates, request.cost, request.mode, request.max_delay);
}

Model::Verdict Model::weigh(Gate& gate, const Visit& visit) {
  return weigh(gate, visit.rates, visit.cost, RateMode::take, kForever);
}

// The tightest tier speaks: of those that refuse the one that takes longest, else the one with the least left.
Model::Verdict Model::weigh(Gate& gate, std::span<const Rate> rates, std::uint32_t cost,
                            RateMode mode, Duration max_delay) {
  Verdict verdict;
  if (rates.empty()) return verdict;
  std::vector<Tier> tiers;
  for (const Rate& rate : rates) {
    const Tier* tier = tier_of(gate, rate);
    tiers.push_back(tier != nullptr ? seen_with(*tier, rate) : unused(rate));
    if (mode == RateMode::at_most) cost = std::min(cost, info_of(tiers.back(), 1, now_).remaining);
  }
  cost = std::max(cost, 1U);
  std::vector<RateInfo> before;
  for (const Tier& tier : tiers) before.push_back(info_of(tier, cost, now_));

  const auto longest = std::ranges::max_element(before, {}, &RateInfo::retry_after);
  verdict.delay = longest->retry_after;
  verdict.never = verdict.delay == kForever;
  const Duration bearable = mode == RateMode::reserve ? std::min(max_delay, kMaxTtl) : 0us;
  verdict.allowed = !verdict.never && verdict.delay <= bearable;
  verdict.before =
      verdict.delay > 0us ? *longest : *std::ranges::min_element(before, {}, &RateInfo::remaining);
  if (!verdict.allowed || mode == RateMode::peek) return verdict;

  verdict.taken = cost;
  std::vector<RateInfo> after;
  for (Tier& tier : tiers) {
    charge(tier, cost, now_);
    after.push_back(info_of(tier, cost, now_));
  }
  verdict.after = *std::ranges::min_element(after, {}, &RateInfo::remaining);
  return verdict;
}

void Model::charge_all(Gate& gate, std::span<const Rate> rates, std::uint32_t cost) {
  for (const Rate& rate : rates) {
    if (rate.algorithm == Rate::Algorithm::no_limit) continue;
    Tier* tier = tier_of(gate, rate);
    if (tier == nullptr) tier = &gate.tiers.emplace_back(unused(rate));
    *tier = seen_with(*tier, rate);
    charge(*tier, cost, now_);
  }
}

void Model::refund_all(Gate& gate, std::span<const Rate> rates, std::uint32_t cost) {
  for (const Rate& rate : rates) {
    if (Tier* tier = tier_of(gate, rate)) reference::refund(*tier, cost, now_);
  }
}

// --- admission ---

Answer Model::admit(const Request& request, std::uint64_t owner) {
  Gate& gate = open(request.gate.text());
  settle(gate);
  Visit* visit = find_visit(gate, request.visitor);
  if (visit != nullptr && visit->state == State::spent && request.dedupe == 0us) {
    // No retry but a new question. What is remembered stays unless the visitor may need the place.
    const bool may_enter = request.permits && !request.line.returning;
    if (may_enter || request.line.join) erase(gate, request.visitor);
    visit = nullptr;
  }
  return visit != nullptr ? ask_again(gate, *visit, request, owner)
                          : ask_first(gate, request, owner);
}

void Model::check_order(Gate& gate, const Request& request) {
  if (!request.line.join || line_of(gate).empty()) return;
  const bool same_aging = gate.order != Order::aging_lottery || gate.aging == request.line.aging;
  if (gate.order != request.line.order || !same_aging) throw InvalidArgument("another order");
}

void Model::check_kind(const Visit& visit, const Request& request) {
  if (!visit.in_line() && visit.state != State::handed) return;
  if (visit.permits.has_value() != request.permits.has_value()) {
    throw InvalidArgument("another kind of request");
  }
}

Answer Model::ask_again(Gate& gate, Visit& visit, const Request& request, std::uint64_t owner) {
  if (visit.state == State::holding || visit.state == State::spent) {
    Granted answer = granted(gate, visit);
    answer.repeated = true;
    if (visit.state == State::spent) {
      answer.taken = visit.cost;
      answer.rate = peek(gate, request).before;
    }
    return answer;
  }
  if (visit.in_line()) check_order(gate, request);
  check_kind(visit, request);
  if (visit.state == State::handed) return claim(gate, visit, request, owner);

  const Verdict verdict = peek(gate, request);
  if (verdict.never) return refused(gate, Reason::never, kForever, verdict.before);
  update(gate, visit, request, owner);
  visit.patience_end = now_ + visit.patience;
  visit.state = State::waiting;
  visit.several = false;
  visit.called_until.reset();
  serve_line(gate);
  if (visit.state == State::handed) return claim(gate, visit, request, owner);
  return queued(gate, visit, peek(gate, request).before);
}

// What a waiter that asks again may change: its limit and its rates, not its weight or priority.
void Model::update(Gate& gate, Visit& visit, const Request& request, std::uint64_t owner) {
  if (request.permits) {
    visit.permits->limit = std::max(request.permits->limit, visit.permits->weight);
    note_limit(gate, *request.permits);
  }
  visit.rates.assign(request.rates.begin(), request.rates.end());
  visit.cost = request.cost;
  visit.hold = request.hold;
  visit.owner = owner;
  if (request.line.join) visit.patience = request.line.patience;
}

Answer Model::ask_first(Gate& gate, const Request& request, std::uint64_t owner) {
  if (request.line.returning) return refused(gate, Reason::late, 0us, {});
  check_order(gate, request);
  if (request.permits) note_limit(gate, *request.permits);
  const Verdict verdict = weigh(gate, request);
  const std::optional<Duration> pause = paused_until(gate);
  const bool clear = present_in(gate).empty() || request.line.barging;
  const bool room = !request.permits || fits(gate, *request.permits, in_use(gate));

  if (verdict.never) return refused(gate, Reason::never, kForever, verdict.before);
  if (!pause && clear && room && verdict.allowed) return enter(gate, request, owner, verdict);
  if (request.line.join) return join(gate, request, owner, verdict);
  if (pause) return refused(gate, Reason::paused, *pause - now_, verdict.before);
  if (!clear || !room) return refused(gate, Reason::full, retry_after(gate), verdict.before);
  return refused(gate, Reason::rate, verdict.before.retry_after, verdict.before);
}

Model::Visit Model::new_visit(const Request& request, std::uint64_t owner) const {
  Visit visit{.visitor = request.visitor, .label = std::string(request.label)};
  visit.permits = request.permits;
  visit.rates.assign(request.rates.begin(), request.rates.end());
  visit.cost = request.cost;
  visit.dedupe = request.dedupe;
  visit.hold = request.hold;
  visit.owner = owner;
  visit.joined = now_;
  return visit;
}

void Model::let_in(Gate& gate, Visit& visit, State state, Duration expiry) {
  visit.state = state;
  visit.granted_at = now_;
  visit.expiry = expiry;
  visit.expiry_set = ++expiries_;
  visit.revoked.reset();
  visit.drawn = false;
  visit.called_until.reset();
  visit.slot.reset();
  if (!visit.permits) return;
  last_fence_ = std::max(last_fence_ + 1, static_cast<Fence>(wall_.count()));
  gate.last_fence = visit.fence = last_fence_;
  if (visit.permits->weight == 1) visit.slot = lowest_free_slot(gate);
}

Granted Model::enter(Gate& gate, const Request& request, std::uint64_t owner,
                     const Verdict& verdict) {
  Visit visit = new_visit(request, owner);
  if (request.mode != RateMode::peek) {
    charge_all(gate, request.rates, verdict.taken);
    count_grant(gate, 0us);
  }
  if (request.permits) {
    let_in(gate, visit, State::holding, now_ + request.permits->ttl);
  } else {
    let_in(gate, visit, State::spent, now_ + request.dedupe);
  }
  if (request.permits || request.dedupe > 0us) gate.visits.push_back(visit);
  Granted answer = granted(gate, visit);
  answer.taken = verdict.taken;
  answer.delay = verdict.delay;
  answer.rate = request.mode == RateMode::peek ? verdict.before : verdict.after;
  return answer;
}

std::optional<Refused> Model::line_refuses(Gate& gate, const Request& request,
                                           const RateInfo& rate) {
  if (request.line.max_waiting != 0 && line_of(gate).size() >= request.line.max_waiting) {
    return refused(gate, Reason::line_full, retry_after(gate), rate);
  }
  std::int64_t position = 1;
  for (const Visit* other : present_in(gate)) {
    if (gate.order != Order::priority || other->priority >= request.line.priority) ++position;
  }
  const Duration expected = position * gate.interval;
  if (expected > request.line.max_eta) {
    return refused(gate, Reason::late, expected - request.line.max_eta, rate);
  }
  return std::nullopt;
}

Model::Visit& Model::enqueue(Gate& gate, const Request& request, std::uint64_t owner) {
  if (line_of(gate).empty()) {
    gate.order = request.line.order;
    gate.aging = request.line.aging;
    gate.line_since = now_;
  }
  Visit visit = new_visit(request, owner);
  visit.order = gate.order;
  visit.aging = gate.aging;
  visit.arrival = ++arrivals_;
  visit.priority = request.line.priority;
  visit.patience = request.line.patience;
  visit.patience_end = now_ + request.line.patience;
  visit.claim_window = request.line.claim_window;
  return gate.visits.emplace_back(visit);
}

Answer Model::join(Gate& gate, const Request& request, std::uint64_t owner,
                   const Verdict& verdict) {
  if (const auto no = line_refuses(gate, request, verdict.before)) return *no;
  Visit& visit = enqueue(gate, request, owner);
  serve_line(gate);
  if (visit.state == State::handed) return claim(gate, visit, request, owner);
  return queued(gate, visit, verdict.before);
}

Granted Model::claim(Gate& gate, Visit& visit, const Request& request, std::uint64_t owner) {
  count_grant(gate, now_ - visit.joined);
  visit.state = visit.permits ? State::holding : State::spent;
  visit.expiry = now_ + (visit.permits ? visit.permits->ttl : visit.dedupe);
  if (visit.permits && visit.revoked) visit.expiry = std::min(visit.expiry, *visit.revoked);
  visit.granted_at = now_;
  if (visit.permits) {
    visit.hold = request.hold;
    visit.owner = owner;
  }
  Granted answer = granted(gate, visit);
  answer.taken = visit.rates.empty() ? 0 : visit.cost;
  answer.rate = peek(gate, request).before;
  if (!visit.permits && visit.dedupe == 0us) erase(gate, request.visitor);
  return answer;
}

void Model::count_grant(Gate& gate, Duration waited) {
  ++gate.counters.granted;
  gate.counters.wait_sum += waited;
  std::size_t bucket = 0;
  while (bucket < Counters::kWaitBounds.size() && waited > Counters::kWaitBounds.at(bucket))
    ++bucket;
  ++gate.counters.waits.at(bucket);
}

// --- several gates ---

GroupAnswer Model::admit_all(std::span<const Request> requests, std::uint64_t owner) {
  for (const Request& request : requests) {
    Gate* gate = find(request.gate.text());
    if (gate == nullptr) continue;
    settle(*gate);
    check_order(*gate, request);
    if (const Visit* visit = find_visit(*gate, request.visitor)) check_kind(*visit, request);
  }
  for (const Request& request : requests) {
    Gate& gate = open(request.gate.text());
    Visit* visit = find_visit(gate, request.visitor);
    const bool inside = visit != nullptr && visit->inside();
    const bool waits = visit != nullptr && visit->in_line();
    if (visit != nullptr && visit->state == State::spent) erase(gate, request.visitor);
    if (request.permits && !inside) note_limit(gate, *request.permits);
    if (waits && !peek(gate, request).never) update(gate, *visit, request, owner);
  }
  std::vector<Verdict> verdicts(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Gate& gate = open(requests[i].gate.text());
    const std::optional<Reason> reason = why_not(gate, requests[i], verdicts[i]);
    if (reason) return stop_at(i, *reason, requests, owner, verdicts[i]);
  }
  GroupAnswer answer;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Gate& gate = open(requests[i].gate.text());
    answer.granted.push_back(grant_part(gate, requests[i], owner, verdicts[i]));
  }
  return answer;
}

std::optional<Reason> Model::why_not(Gate& gate, const Request& request, Verdict& verdict) {
  Visit* visit = find_visit(gate, request.visitor);
  if (visit != nullptr && visit->inside()) return std::nullopt;
  if (visit != nullptr) visit->state = State::waiting;
  verdict = weigh(gate, request);
  if (verdict.never) return Reason::never;
  if (paused_until(gate)) return Reason::paused;
  const bool clear = present_in(gate).empty() || request.line.barging;
  if (!clear && (visit == nullptr || candidate(gate) != visit)) return Reason::full;
  if (request.permits) {
    const Permits& permits = visit != nullptr ? *visit->permits : *request.permits;
    if (!fits(gate, permits, in_use(gate))) return Reason::full;
  }
  if (!verdict.allowed) return Reason::rate;
  return std::nullopt;
}

Granted Model::grant_part(Gate& gate, const Request& request, std::uint64_t owner,
                          const Verdict& verdict) {
  Visit* visit = find_visit(gate, request.visitor);
  if (visit == nullptr) return enter(gate, request, owner, verdict);
  if (visit->state == State::holding) {
    Granted answer = granted(gate, *visit);
    answer.repeated = true;
    return answer;
  }
  if (visit->state == State::handed) return claim(gate, *visit, request, owner);
  charge_all(gate, request.rates, verdict.taken);
  count_grant(gate, now_ - visit->joined);
  if (request.permits) let_in(gate, *visit, State::holding, now_ + request.permits->ttl);
  Granted answer = granted(gate, *visit);
  answer.taken = verdict.taken;
  answer.rate = verdict.after;
  if (!request.permits) erase(gate, request.visitor);
  return answer;
}

// Waits in the first line that refuses; without `join` in the line where it is; and in no other.
GroupAnswer Model::stop_at(std::size_t at, Reason reason, std::span<const Request> requests,
                           std::uint64_t owner, const Verdict& verdict) {
  const auto waits_at = [&](const Request& request) {
    const Visit* visit = find_visit(open(request.gate.text()), request.visitor);
    return visit != nullptr && visit->in_line();
  };
  const auto waits = std::ranges::find_if(requests, waits_at);
  const bool joins = requests[at].line.join;
  if (reason == Reason::never || (!joins && waits == requests.end())) {
    Gate& gate = open(requests[at].gate.text());
    Duration retry = verdict.before.retry_after;
    if (reason == Reason::full) retry = retry_after(gate);
    if (reason == Reason::paused) retry = *paused_until(gate) - now_;
    return {.at = at, .because = refused(gate, reason, retry, verdict.before)};
  }
  if (!joins) at = static_cast<std::size_t>(waits - requests.begin());
  const Request& request = requests[at];
  Gate& gate = open(request.gate.text());
  const RateInfo rate = peek(gate, request).before;
  Visit* visit = find_visit(gate, request.visitor);
  if (visit == nullptr) {
    if (const auto no = line_refuses(gate, request, rate)) return {.at = at, .because = *no};
    visit = &enqueue(gate, request, owner);
  }
  visit->state = State::waiting;
  visit->several = true;
  visit->called_until.reset();
  visit->patience_end = now_ + visit->patience;
  serve_line(gate);
  GroupAnswer answer{.at = at, .because = queued(gate, *visit, rate)};
  for (const Request& other : requests) {
    if (&other == &request || !waits_at(other)) continue;
    erase(open(other.gate.text()), request.visitor);
    settle(open(other.gate.text()));
  }
  return answer;
}

// --- answers ---

Granted Model::granted(const Gate& gate, const Visit& visit) const {
  Granted answer{.token = {0, gate.name, visit.visitor, visit.fence}};
  if (visit.permits) answer.expires_in = visit.expiry - now_;
  answer.slot = visit.slot;
  return answer;
}

Queued Model::queued(Gate& gate, const Visit& visit, const RateInfo& rate) {
  std::uint32_t position = 1;
  for (const Visit* other : line_of(gate)) {
    if (other == &visit) break;
    if (other->state == State::waiting) ++position;
  }
  Duration check = visit.patience / 3;
  if (const std::optional<Duration> event = next_event(gate)) {
    check = std::min(check, std::max(*event - now_, Duration(1us)) + 50ms * (position - 1));
  }
  return {.position = position,
          .waiting = static_cast<std::uint32_t>(line_of(gate).size()),
          .next_check = std::max(check, Duration(1us)),
          .eta = position * gate.interval,
          .rate = rate};
}

Refused Model::refused(Gate& gate, Reason reason, Duration retry_after, const RateInfo& rate) {
  ++gate.counters.refused.at(static_cast<std::size_t>(reason));
  return {.reason = reason, .retry_after = retry_after, .rate = rate};
}

Duration Model::retry_after(Gate& gate) {
  const std::optional<Duration> event = next_event(gate);
  return event ? *event - now_ : Duration(1s);
}

// When something may change by time alone.
std::optional<Duration> Model::next_event(Gate& gate) {
  std::optional<Duration> event = paused_until(gate);
  const auto may_be = [&](Duration at) { event = std::min(event.value_or(at), at); };
  for (const Visit& visit : gate.visits) may_be(visit.deadline());
  if (paused_until(gate)) return event;
  const std::uint64_t draw = std::exchange(draw_, gate.draw);
  const Visit* head = candidate(gate);
  draw_ = draw;
  if (head == nullptr || (head->permits && !fits(gate, *head->permits, in_use(gate)))) return event;
  const Verdict verdict = weigh(gate, *head);
  if (!verdict.allowed) may_be(now_ + verdict.before.retry_after);
  return event;
}

// --- the other steps of a visitor ---

bool Model::leave(const std::string& name, const VisitorId& visitor) {
  if (find(name) == nullptr) return false;
  Gate& gate = open(name);
  settle(gate);
  const Visit* visit = find_visit(gate, visitor);
  if (visit == nullptr || !(visit->in_line() || visit->state == State::handed)) return false;
  if (visit->state == State::handed) refund_all(gate, visit->rates, visit->cost);
  ++gate.counters.abandoned;
  erase(gate, visitor);
  serve_line(gate);
  return true;
}

bool Model::mark_absent(const std::string& name, const VisitorId& visitor) {
  if (find(name) == nullptr) return false;
  Gate& gate = open(name);
  settle(gate);
  Visit* visit = find_visit(gate, visitor);
  if (visit == nullptr || !(visit->in_line() || visit->state == State::handed)) return false;
  if (visit->state == State::absent) return true;
  if (visit->state == State::handed) {
    ++gate.counters.missed;
    refund_all(gate, visit->rates, visit->cost);
    rejoin(gate, *visit);
  }
  set_absent(*visit);
  serve_line(gate);
  return true;
}

void Model::refund(const Request& request) {
  Gate* gate = find(request.gate.text());
  if (gate == nullptr) return;
  refund_all(*gate, request.rates, request.cost);
  settle(*gate);
}

Renewal Model::renew(const Token& token, Duration ttl, std::optional<std::uint32_t> weight) {
  Gate* gate = find(token.gate.text());
  Visit* visit = gate == nullptr ? nullptr : holder(*gate, token);
  if (visit == nullptr || visit->state != State::holding) return Renewal::gone;
  if (visit->revoked) return Renewal::revoked;
  if (weight && *weight != visit->weight()) {
    Permits changed = *visit->permits;
    changed.weight = *weight;
    const std::uint32_t others = in_use(*gate) - visit->weight();
    if (*weight > changed.limit) return Renewal::no_room;
    if (*weight > visit->weight() && !fits(*gate, changed, others)) return Renewal::no_room;
    visit->permits = changed;
    visit->slot.reset();
    if (*weight == 1) visit->slot = lowest_free_slot(*gate);
  }
  visit->permits->ttl = ttl;
  visit->expiry = now_ + ttl;
  serve_line(*gate);
  return Renewal::renewed;
}

bool Model::release(const Token& token) {
  Gate* gate = find(token.gate.text());
  const Visit* visit = gate == nullptr ? nullptr : holder(*gate, token);
  if (visit == nullptr) return false;
  if (visit->revoked) ++gate->counters.revoked;
  if (visit->state == State::handed) refund_all(*gate, visit->rates, visit->cost);
  erase(*gate, token.visitor);
  serve_line(*gate);
  return true;
}

bool Model::disown(const Token& token) {
  Gate* gate = find(token.gate.text());
  Visit* visit = gate == nullptr ? nullptr : holder(*gate, token);
  if (visit == nullptr) return false;
  visit->hold = Hold::detached;
  return true;
}

std::optional<Granted> Model::adopt(const Token& token, std::uint64_t owner) {
  Gate* gate = find(token.gate.text());
  Visit* visit = gate == nullptr ? nullptr : holder(*gate, token);
  if (visit == nullptr || visit->state != State::holding) return std::nullopt;
  visit->hold = Hold::bound;
  visit->owner = owner;
  Granted answer = granted(*gate, *visit);
  answer.repeated = true;
  return answer;
}

// --- operators ---

void Model::set_limit(const std::string& name, std::optional<std::uint32_t> limit) {
  if (!limit && find(name) == nullptr) return;
  Gate& gate = open(name);
  gate.limit_override = limit;
  settle(gate);
}

void Model::pause(const std::string& name, Duration duration, const std::string& reporter) {
  Gate& gate = open(name);
  settle(gate);
  gate.pauses[reporter] = now_ + duration;
}

bool Model::resume(const std::string& name, const std::string& reporter) {
  if (find(name) == nullptr) return false;
  Gate& gate = open(name);
  std::erase_if(gate.pauses, [&](const auto& pause) { return pause.second <= now_; });
  const bool found = gate.pauses.erase(reporter) != 0;
  settle(gate);
  return found;
}

std::size_t Model::revoke(const std::string& name, const std::optional<VisitorId>& visitor,
                          Revoke how) {
  if (find(name) == nullptr) return 0;
  Gate& gate = open(name);
  settle(gate);
  std::size_t count = 0;
  for (Visit& visit : gate.visits) {
    if (!visit.inside() || (visitor && *visitor != visit.visitor)) continue;
    ++count;
    told_.insert(visit.visitor);
    const Duration grace = (visit.permits ? visit.permits->ttl : Duration(0us)) / 3 + 100ms;
    visit.revoked = std::min(visit.revoked.value_or(now_ + grace), now_ + grace);
    if (now_ + grace < visit.expiry) visit.expiry_set = ++expiries_;
    visit.expiry = std::min(visit.expiry, now_ + grace);
    if (how != Revoke::now) continue;
    ++gate.counters.revoked;
    if (visit.state == State::handed) refund_all(gate, visit.rates, visit.cost);
  }
  if (how == Revoke::now) {
    std::erase_if(gate.visits, [&](const Visit& visit) {
      return visit.inside() && (!visitor || *visitor == visit.visitor);
    });
  }
  settle(gate);
  return count;
}

// Counters and the fence stay.
bool Model::purge(const std::string& name) {
  if (find(name) == nullptr) return false;
  Gate& gate = open(name);
  for (const Visit& visit : gate.visits) told_.insert(visit.visitor);
  gate.visits.clear();
  gate.tiers.clear();
  gate.pauses.clear();
  gate.limit_override.reset();
  gate.limit_seen = 0;
  gate.interval = 0us;
  return true;
}

void Model::end_owner(std::uint64_t owner) {
  std::vector<Gate*> touched;
  for (auto& [name, gate] : gates_) {
    const auto ends = [&](const Visit& visit) {
      return visit.hold == Hold::bound && visit.owner == owner;
    };
    for (const Visit& visit : gate.visits) {
      if (!ends(visit)) continue;
      if (visit.inside()) ++gate.counters.died;
      if (visit.in_line()) ++gate.counters.abandoned;
      if (visit.state == State::handed) refund_all(gate, visit.rates, visit.cost);
    }
    if (std::erase_if(gate.visits, ends) != 0) touched.push_back(&gate);
  }
  for (Gate* gate : touched) settle(*gate);
}

void Model::collect() {
  for (auto& [name, gate] : gates_) {
    settle(gate);
    std::erase_if(gate.tiers, [&](const Tier& tier) { return is_unused(tier, now_); });
  }
  std::erase_if(gates_, [&](const auto& item) {
    const Gate& gate = item.second;
    return gate.visits.empty() && gate.tiers.empty() && gate.pauses.empty() &&
           !gate.limit_override && now_ - gate.last_used >= 10min;
  });
}

// --- look ---

std::optional<GateView> Model::look(const std::string& name) {
  Gate* gate = find(name);
  if (gate == nullptr) return std::nullopt;
  settle(*gate);
  GateView view{.name = name};
  view.override_limit = gate->limit_override;
  view.limits_disagree = gate->limits_disagree && !gate->visits.empty();
  view.order = gate->order;
  view.last_fence = gate->last_fence;
  view.counters = gate->counters;
  for (const Visit& visit : gate->visits) {
    if (!visit.inside()) continue;
    view.holders.push_back({visit.visitor, visit.label, visit.fence, visit.weight(), visit.slot,
                            now_ - visit.granted_at, visit.expiry - now_,
                            visit.state == State::holding, visit.revoked.has_value(), visit.hold});
  }
  for (const Visit* visit : line_of(*gate)) {
    view.line.push_back({visit->visitor, visit->label, visit->weight(), visit->priority,
                         now_ - visit->joined, visit->state == State::waiting, visit->hold});
  }
  for (const Tier& tier : gate->tiers) {
    if (!is_unused(tier, now_)) view.rates.push_back({tier.rate, info_of(tier, 0, now_)});
  }
  for (const auto& [reporter, end] : gate->pauses) view.pauses.push_back({reporter, end - now_});
  view.counts.in_use = in_use(*gate);
  view.counts.limit = limit_in_effect(*gate);
  view.counts.holders = static_cast<std::uint32_t>(view.holders.size());
  view.counts.waiting = static_cast<std::uint32_t>(view.line.size());
  view.counts.exclusive = gate->exclusive_seen && gate->limit_seen != 0;
  return view;
}

std::vector<std::string> Model::list() const {
  std::vector<std::string> names;
  for (const auto& [name, gate] : gates_) names.push_back(name);
  return names;
}

bool Model::knows(const std::string& name, const VisitorId& visitor) {
  Gate* gate = find(name);
  return gate != nullptr && find_visit(*gate, visitor) != nullptr;
}

bool Model::has_lines() const {
  return std::ranges::any_of(gates_, [](const auto& item) {
    return std::ranges::any_of(item.second.visits, &Visit::in_line);
  });
}

}  // namespace airlock::reference
