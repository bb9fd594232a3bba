#include "model/support/reference_model.hpp"

#include <algorithm>

#include "airlock/error.hpp"

namespace airlock::reference {

using namespace std::chrono_literals;

namespace {

constexpr Duration kIdle = 10min;

}  // namespace

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

Model::Gate* Model::settled(const std::string& name) {
  Gate* gate = find(name);
  if (gate != nullptr) settle(*gate);
  return gate;
}

Model::Visit* Model::find_visit(Gate& gate, const VisitorId& visitor) {
  const auto found = std::ranges::find(gate.visits, visitor, &Visit::visitor);
  return found == gate.visits.end() ? nullptr : &*found;
}

Model::Visit* Model::holder(Gate& gate, const Token& token) {
  Visit* visit = find_visit(gate, token.visitor);
  if (visit == nullptr || !visit->inside() || !visit->permits) return nullptr;
  return visit->fence == token.fence ? visit : nullptr;
}

void Model::erase(Gate& gate, const VisitorId& visitor) {
  std::erase_if(gate.visits, [&](const Visit& visit) { return visit.visitor == visitor; });
}

// --- what follows from the time and from what happened ---

void Model::settle(Gate& gate) {
  end_what_ran_out(gate);
  serve_line(gate);
}

void Model::end_what_ran_out(Gate& gate) {
  std::erase_if(gate.pauses, [&](const auto& pause) { return pause.second <= now_; });
  std::erase_if(gate.tiers, [&](const Tier& tier) { return is_unused(tier, now_); });
  for (Visit& visit : gate.visits) {
    if (visit.state == State::handed && visit.expiry <= now_) {
      ++gate.counters.missed;
      refund_all(gate, visit.rates, visit.cost);
      visit.state = State::absent;
    }
  }
  std::erase_if(gate.visits, [&](const Visit& visit) {
    if (visit.in_line()) {
      if (visit.patience_end > now_) return false;
      ++gate.counters.abandoned;
      return true;
    }
    if (visit.expiry > now_) return false;
    if (visit.state == State::holding) {
      ++(visit.revoked ? gate.counters.revoked : gate.counters.expired);
    }
    return true;
  });
}

void Model::serve_line(Gate& gate) {
  while (!paused_until(gate)) {
    Visit* next = candidate(gate);
    if (next == nullptr || !hand_over(gate, *next)) return;
  }
}

bool Model::hand_over(Gate& gate, Visit& visit) {
  if (visit.permits && !fits(gate, *visit.permits, in_use(gate))) return false;
  if (!weigh(gate, visit.rates, visit.cost, RateMode::take, kForever).allowed) return false;
  charge_all(gate, visit.rates, visit.cost);
  const Duration interval = now_ - gate.line_since;
  gate.interval = gate.interval == Duration(0) ? interval : (7 * gate.interval + interval + 4us) / 8;
  gate.line_since = now_;
  admit_visit(gate, visit, now_ + visit.claim_window);
  visit.state = State::handed;
  count_grant(gate, now_ - visit.joined);
  tell(gate, visit);
  return true;
}

// --- who is next ---

std::vector<Model::Visit*> Model::line_of(Gate& gate, bool with_absent) {
  std::vector<Visit*> line;
  for (Visit& visit : gate.visits) {
    if (visit.state == State::waiting || (with_absent && visit.state == State::absent)) {
      line.push_back(&visit);
    }
  }
  std::ranges::sort(line, [](const Visit* a, const Visit* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->arrival < b->arrival;
  });
  return line;
}

Model::Visit* Model::candidate(Gate& gate) {
  const std::vector<Visit*> present = line_of(gate, false);
  if (present.empty()) return nullptr;
  if (gate.order == Order::fifo || gate.order == Order::priority) return present.front();
  for (Visit* visit : present) {
    if (gate.drawn == visit->visitor) return visit;
  }
  Visit* drawn = draw_one(gate, present);
  gate.drawn = drawn->visitor;
  return drawn;
}

std::uint32_t Model::draw_below(std::uint32_t n) {
  draw_ = draw_ * 48'271 % kModulus;
  return static_cast<std::uint32_t>(draw_ % n);
}

std::uint32_t Model::tickets(const Gate& gate, const Visit& visit) const {
  const auto seconds = static_cast<std::uint64_t>((now_ - visit.joined) / 1s);
  const std::uint64_t grown = gate.aging.base + gate.aging.per_second * seconds;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(grown, gate.aging.max));
}

Model::Visit* Model::draw_one(Gate& gate, const std::vector<Visit*>& present) {
  const auto count = static_cast<std::uint32_t>(present.size());
  if (gate.order == Order::lottery) return present[draw_below(count)];
  Visit* oldest = nullptr;
  for (int i = 0; i < 64; ++i) {
    Visit* tried = present[draw_below(count)];
    if (draw_below(gate.aging.max) < tickets(gate, *tried)) return tried;
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

bool Model::fits(const Gate& gate, const Permits& permits, std::uint32_t in_use_by_others) {
  if (!gate.limit_override) return in_use_by_others + permits.weight <= permits.limit;
  std::uint32_t limit = *gate.limit_override;
  if (permits.exclusive) limit = std::min(limit, permits.limit);
  if (in_use_by_others + permits.weight <= limit) return true;
  return limit >= 1 && permits.weight <= permits.limit && in_use_by_others == 0;
}

Slot Model::lowest_free_slot(const Gate& gate) {
  for (std::uint32_t slot = 0;; ++slot) {
    const bool taken = std::ranges::any_of(
        gate.visits, [&](const Visit& visit) { return visit.inside() && visit.slot == slot; });
    if (!taken) return slot;
  }
}

std::optional<Duration> Model::paused_until(const Gate& gate) const {
  std::optional<Duration> end;
  for (const auto& [reporter, until] : gate.pauses) {
    if (until > now_ && (!end || until > *end)) end = until;
  }
  return end;
}

// --- rates ---

Tier* Model::tier_of(Gate& gate, const Rate& rate) {
  for (Tier& tier : gate.tiers) {
    if (tier.rate.algorithm == rate.algorithm && tier.rate.period == rate.period) return &tier;
  }
  return nullptr;
}

Model::Verdict Model::weigh(Gate& gate, std::span<const Rate> rates, std::uint32_t cost,
                            RateMode mode, Duration max_delay) {
  std::vector<Tier> tiers;
  for (const Rate& rate : rates) {
    const Tier* tier = tier_of(gate, rate);
    tiers.push_back(tier != nullptr ? seen_with(*tier, rate) : unused(rate));
  }
  Verdict verdict{.taken = cost};
  if (mode == RateMode::at_most) {
    for (const Tier& tier : tiers) verdict.taken = std::min(verdict.taken, remaining(tier, now_));
    verdict.taken = std::max(verdict.taken, 1U);
  }
  for (const Tier& tier : tiers) {
    const Duration early = passes_after(tier, verdict.taken, now_);
    if (early == kForever) verdict.never = true;
    verdict.delay = std::max(verdict.delay, early);
  }
  verdict.allowed = mode == RateMode::reserve ? verdict.delay <= max_delay && !verdict.never
                                              : verdict.delay == 0us;
  for (Tier& tier : tiers) {
    if (verdict.allowed && mode != RateMode::peek) charge(tier, verdict.taken, now_);
    const RateInfo info = info_of(tier, verdict.taken, now_);
    const bool tighter = info.retry_after != verdict.info.retry_after
                             ? info.retry_after > verdict.info.retry_after
                             : info.remaining < verdict.info.remaining;
    if (verdict.info.limit == 0 || tighter) verdict.info = info;
  }
  return verdict;
}

void Model::charge_all(Gate& gate, std::span<const Rate> rates, std::uint32_t cost) {
  for (const Rate& rate : rates) {
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

// --- admit ---

Answer Model::admit(const Request& request) {
  Gate& gate = open(request.gate.text());
  settle(gate);
  Visit* visit = find_visit(gate, request.visitor);
  if (request.permits) {
    if (gate.limit_seen != 0 && gate.limit_seen != request.permits->limit) gate.limits_disagree = true;
    gate.limit_seen = request.permits->limit;
    gate.exclusive_seen = request.permits->exclusive;
  }
  return visit != nullptr ? ask_again(gate, *visit, request) : ask_first(gate, request);
}

Answer Model::ask_again(Gate& gate, Visit& visit, const Request& request) {
  if (visit.state == State::holding || visit.state == State::spent) {
    Granted answer = granted(gate, visit);
    answer.repeated = true;
    return answer;
  }
  if (visit.permits.has_value() != request.permits.has_value()) {
    throw InvalidArgument("another kind of admission than it waits for");
  }
  if (visit.state == State::handed) return claim(gate, visit, request);
  if (request.line.order != gate.order) throw InvalidArgument("another order");
  visit.state = State::waiting;
  visit.patience_end = now_ + request.line.patience;
  visit.patience = request.line.patience;
  if (visit.permits) visit.permits->limit = request.permits->limit;
  visit.rates.assign(request.rates.begin(), request.rates.end());
  serve_line(gate);
  if (visit.state == State::handed) return claim(gate, visit, request);
  return queued(gate, visit, weigh(gate, visit.rates, visit.cost, RateMode::take, kForever).info);
}

Answer Model::ask_first(Gate& gate, const Request& request) {
  const std::vector<Visit*> line = line_of(gate, true);
  if (request.line.join && !line.empty() && request.line.order != gate.order) {
    throw InvalidArgument("another order");
  }
  const Verdict verdict =
      weigh(gate, request.rates, request.cost, request.mode, request.max_delay);
  const std::optional<Duration> pause = paused_until(gate);
  const bool line_first = !line_of(gate, false).empty() && !request.line.barging;
  const bool room = !request.permits || fits(gate, *request.permits, in_use(gate));

  if (verdict.never) return refused(gate, Reason::never, kForever, verdict.info);
  if (!pause && !line_first && room && verdict.allowed) return enter(gate, request, verdict);
  if (request.line.join) return join(gate, request, verdict);
  if (pause) return refused(gate, Reason::paused, *pause - now_, verdict.info);
  if (line_first || !room) return refused(gate, Reason::full, retry_after(gate), verdict.info);
  return refused(gate, Reason::rate, verdict.info.retry_after, verdict.info);
}

Granted Model::enter(Gate& gate, const Request& request, const Verdict& verdict) {
  if (request.mode != RateMode::peek) charge_all(gate, request.rates, verdict.taken);
  Visit visit{.visitor = request.visitor, .label = std::string(request.label)};
  visit.permits = request.permits;
  visit.rates.assign(request.rates.begin(), request.rates.end());
  visit.cost = verdict.taken;
  visit.hold = request.hold;
  visit.joined = now_;
  visit.dedupe = request.dedupe;
  count_grant(gate, 0us);
  if (request.permits) {
    visit.state = State::holding;
    admit_visit(gate, visit, now_ + request.permits->ttl);
    gate.visits.push_back(visit);
  } else if (request.dedupe > 0us) {
    visit.state = State::spent;
    visit.expiry = now_ + request.dedupe;
    gate.visits.push_back(visit);
  }
  Granted answer = granted(gate, visit);
  answer.delay = verdict.delay;
  answer.rate = verdict.info;
  return answer;
}

Answer Model::join(Gate& gate, const Request& request, const Verdict& verdict) {
  const auto waiting = line_of(gate, true).size();
  if (request.line.max_waiting != 0 && waiting >= request.line.max_waiting) {
    return refused(gate, Reason::line_full, retry_after(gate), verdict.info);
  }
  const auto ahead = static_cast<std::int64_t>(line_of(gate, false).size());
  if ((ahead + 1) * gate.interval > request.line.max_eta) {
    return refused(gate, Reason::late, retry_after(gate), verdict.info);
  }
  if (waiting == 0) {
    gate.order = request.line.order;
    gate.aging = request.line.aging;
    gate.line_since = now_;
  }
  Visit visit{.visitor = request.visitor, .label = std::string(request.label)};
  visit.permits = request.permits;
  visit.rates.assign(request.rates.begin(), request.rates.end());
  visit.cost = request.cost;
  visit.hold = request.hold;
  visit.dedupe = request.dedupe;
  visit.arrival = ++arrivals_;
  visit.priority = request.line.priority;
  visit.joined = now_;
  visit.patience = request.line.patience;
  visit.patience_end = now_ + request.line.patience;
  visit.claim_window = request.line.claim_window;
  gate.visits.push_back(visit);
  serve_line(gate);
  Visit& joined = *find_visit(gate, request.visitor);
  if (joined.state == State::handed) return claim(gate, joined, request);
  return queued(gate, joined, verdict.info);
}

void Model::admit_visit(Gate& gate, Visit& visit, Duration expiry) {
  visit.granted_at = now_;
  visit.expiry = expiry;
  visit.revoked = false;
  if (!visit.permits) return;
  last_fence_ = std::max(last_fence_ + 1, static_cast<Fence>(wall_.count()));
  gate.last_fence = visit.fence = last_fence_;
  visit.slot = visit.permits->weight == 1 ? lowest_free_slot(gate) : Slot{};
}

Granted Model::claim(Gate& gate, Visit& visit, const Request& request) {
  visit.hold = request.hold;
  visit.state = State::holding;
  Granted answer;
  if (visit.permits) {
    visit.expiry = now_ + visit.permits->ttl;
    answer = granted(gate, visit);
  } else if (visit.dedupe > 0us) {
    visit.state = State::spent;
    visit.expiry = now_ + visit.dedupe;
    answer = granted(gate, visit);
  } else {
    answer = granted(gate, visit);
    erase(gate, request.visitor);
  }
  answer.rate = weigh(gate, request.rates, request.cost, RateMode::peek, kForever).info;
  return answer;
}

void Model::count_grant(Gate& gate, Duration waited) {
  ++gate.counters.granted;
  gate.counters.wait_sum += waited;
  std::size_t bucket = 0;
  while (bucket < Counters::kWaitBounds.size() && waited > Counters::kWaitBounds.at(bucket)) ++bucket;
  ++gate.counters.waits.at(bucket);
}

// --- what is told ---

Granted Model::granted(const Gate& gate, const Visit& visit) const {
  Granted answer{.token = {0, gate.name, visit.visitor, visit.fence}};
  if (visit.permits) answer.expires_in = visit.expiry - now_;
  answer.slot = visit.slot;
  answer.taken = visit.rates.empty() ? 0 : visit.cost;
  return answer;
}

Queued Model::queued(Gate& gate, Visit& visit, const RateInfo& rate) {
  std::uint32_t position = 1;
  for (const Visit* other : line_of(gate, false)) {
    if (other == &visit) break;
    ++position;
  }
  Duration check = visit.patience / 3;
  if (const std::optional<Duration> event = next_event(gate)) {
    check = std::min(check, std::max(*event - now_, Duration(1)) + 50ms * (position - 1));
  }
  return {.position = position,
          .waiting = static_cast<std::uint32_t>(line_of(gate, true).size()),
          .next_check = std::max(check, Duration(1)),
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

std::optional<Duration> Model::next_event(Gate& gate) {
  std::optional<Duration> event = paused_until(gate);
  const auto may_be = [&](Duration at) { event = event ? std::min(*event, at) : at; };
  for (const Visit& visit : gate.visits) {
    may_be(visit.in_line() ? visit.patience_end : visit.expiry);
  }
  if (Visit* head = candidate(gate)) {
    if (!head->permits || fits(gate, *head->permits, in_use(gate))) {
      const Verdict verdict = weigh(gate, head->rates, head->cost, RateMode::take, kForever);
      if (!verdict.allowed) may_be(now_ + verdict.info.retry_after);
    }
  }
  return event;
}

// --- the other steps ---

bool Model::leave(const std::string& name, const VisitorId& visitor) {
  Gate* gate = settled(name);
  if (gate == nullptr) return false;
  Visit* visit = find_visit(*gate, visitor);
  if (visit == nullptr || !(visit->in_line() || visit->state == State::handed)) return false;
  if (visit->state == State::handed) refund_all(*gate, visit->rates, visit->cost);
  ++gate->counters.abandoned;
  erase(*gate, visitor);
  serve_line(*gate);
  return true;
}

void Model::refund(const Request& request) {
  Gate* gate = settled(request.gate.text());
  if (gate == nullptr) return;
  refund_all(*gate, request.rates, request.cost);
  serve_line(*gate);
}

Renewal Model::renew(const Token& token, Duration ttl, std::optional<std::uint32_t> weight) {
  Gate* gate = settled(token.gate.text());
  if (gate == nullptr) return Renewal::gone;
  Visit* visit = holder(*gate, token);
  if (visit == nullptr || visit->state != State::holding) return Renewal::gone;
  if (visit->revoked) return Renewal::revoked;
  if (weight && *weight != visit->weight()) {
    Permits changed = *visit->permits;
    changed.weight = *weight;
    if (*weight > visit->weight() && !fits(*gate, changed, in_use(*gate) - visit->weight())) {
      return Renewal::no_room;
    }
    visit->permits->weight = *weight;
    visit->slot.reset();
    if (*weight == 1) visit->slot = lowest_free_slot(*gate);
  }
  visit->permits->ttl = ttl;
  visit->expiry = now_ + ttl;
  serve_line(*gate);
  return Renewal::renewed;
}

bool Model::release(const Token& token) {
  Gate* gate = settled(token.gate.text());
  if (gate == nullptr || holder(*gate, token) == nullptr) return false;
  erase(*gate, token.visitor);
  serve_line(*gate);
  return true;
}

bool Model::disown(const Token& token) {
  Gate* gate = settled(token.gate.text());
  Visit* visit = gate == nullptr ? nullptr : holder(*gate, token);
  if (visit == nullptr || visit->state != State::holding) return false;
  visit->hold = Hold::detached;
  return true;
}

std::optional<Granted> Model::adopt(const Token& token) {
  Gate* gate = settled(token.gate.text());
  Visit* visit = gate == nullptr ? nullptr : holder(*gate, token);
  if (visit == nullptr || visit->state != State::holding) return std::nullopt;
  visit->hold = Hold::bound;
  return granted(*gate, *visit);
}

// --- operators ---

void Model::set_limit(const std::string& name, std::optional<std::uint32_t> limit) {
  Gate& gate = open(name);
  settle(gate);
  gate.limit_override = limit;
  serve_line(gate);
}

void Model::pause(const std::string& name, Duration duration, const std::string& reporter) {
  Gate& gate = open(name);
  settle(gate);
  gate.pauses[reporter] = now_ + duration;
}

bool Model::resume(const std::string& name, const std::string& reporter) {
  Gate* gate = settled(name);
  if (gate == nullptr || gate->pauses.erase(reporter) == 0) return false;
  serve_line(*gate);
  return true;
}

std::size_t Model::revoke(const std::string& name, const std::optional<VisitorId>& visitor,
                          Store::Revoke how) {
  Gate* gate = settled(name);
  if (gate == nullptr) return 0;
  std::size_t count = 0;
  for (Visit& visit : gate->visits) {
    if (!visit.inside() || !visit.permits || (visitor && *visitor != visit.visitor)) continue;
    ++count;
    tell(*gate, visit);
    visit.revoked = true;
    const Duration grace = how == Store::Revoke::now ? 0us : visit.permits->ttl / 3 + 100ms;
    visit.expiry = std::min(visit.expiry, now_ + grace);
  }
  settle(*gate);
  return count;
}

bool Model::purge(const std::string& name) {
  Gate* gate = settled(name);
  if (gate == nullptr) return false;
  for (const Visit& visit : gate->visits) tell(*gate, visit);
  gates_.erase(name);
  return true;
}

void Model::collect() {
  for (auto& [name, gate] : gates_) settle(gate);
  std::erase_if(gates_, [&](const auto& item) {
    const Gate& gate = item.second;
    return gate.visits.empty() && gate.tiers.empty() && gate.pauses.empty() &&
           !gate.limit_override && gate.last_used + kIdle <= now_;
  });
}

// --- look ---

std::optional<GateView> Model::look(const std::string& name) {
  Gate* gate = settled(name);
  if (gate == nullptr) return std::nullopt;
  GateView view{.name = name};
  view.override_limit = gate->limit_override;
  view.limits_disagree = gate->limits_disagree;
  view.order = gate->order;
  view.last_fence = gate->last_fence;
  view.counters = gate->counters;
  for (const Visit& visit : gate->visits) {
    if (!visit.inside() || !visit.permits) continue;
    view.holders.push_back({visit.visitor, visit.label, visit.fence, visit.weight(), visit.slot,
                            now_ - visit.granted_at, visit.expiry - now_,
                            visit.state == State::holding, visit.revoked, visit.hold});
  }
  std::ranges::sort(view.holders, {}, &HolderView::fence);
  for (const Visit* visit : line_of(*gate, true)) {
    view.line.push_back({visit->visitor, visit->label, visit->weight(), visit->priority,
                         now_ - visit->joined, visit->state == State::waiting, visit->hold});
  }
  for (const Tier& tier : gate->tiers) view.rates.push_back({tier.rate, info_of(tier, 1, now_)});
  for (const auto& [reporter, end] : gate->pauses) view.pauses.push_back({reporter, end - now_});
  view.counts.in_use = in_use(*gate);
  view.counts.limit = gate->limit_seen;
  if (gate->limit_override) {
    view.counts.limit = gate->exclusive_seen ? std::min(gate->limit_seen, *gate->limit_override)
                                             : *gate->limit_override;
  }
  view.counts.holders = static_cast<std::uint32_t>(view.holders.size());
  view.counts.waiting = static_cast<std::uint32_t>(view.line.size());
  return view;
}

std::vector<std::string> Model::list() const {
  std::vector<std::string> names;
  for (const auto& [name, gate] : gates_) names.push_back(name);
  return names;
}

}  // namespace airlock::reference
