#include "model/support/twins.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "model/support/shard_probe.hpp"

namespace airlock::trial {
namespace {

constexpr StoreId kStore = 77;
constexpr std::size_t kTokens = 40;

// The same step asked of the reference.
Reply perform(reference::Model& model, const Operation& operation, const Token& token) {
  const std::string gate = gate_text(operation.gate);
  const VisitorId visitor = visitor_id(operation.visitor);
  std::vector<Request> requests;
  for (const Ask& ask : operation.asks) requests.push_back(ask.request());
  switch (operation.step) {
    case Step::admit:
      return model.admit(requests.front(), operation.owner);
    case Step::admit_all:
      return model.admit_all(requests, operation.owner);
    case Step::leave:
      return model.leave(gate, visitor);
    case Step::mark_absent:
      return model.mark_absent(gate, visitor);
    case Step::refund:
      return model.refund(requests.front()), Reply();
    case Step::renew:
      return model.renew(token, operation.length, operation.number);
    case Step::release:
      return model.release(token);
    case Step::disown:
      return model.disown(token);
    case Step::adopt:
      return model.adopt(token, operation.owner);
    case Step::set_limit:
      return model.set_limit(gate, operation.number), Reply();
    case Step::pause:
      return model.pause(gate, operation.length, operation.reporter), Reply();
    case Step::resume:
      return model.resume(gate, operation.reporter);
    case Step::revoke:
      return model.revoke(gate, operation.all ? std::nullopt : std::optional(visitor),
                          operation.how);
    case Step::purge:
      return model.purge(gate);
    case Step::end_owner:
      return model.end_owner(operation.owner), Reply();
    case Step::sweep:
      return model.collect(), Reply();
  }
  return {};
}

template <typename T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_same_v<T, Duration>) {
    out << value.count() << " us";
  } else if constexpr (std::is_enum_v<T>) {
    out << static_cast<int>(value);
  } else {
    out << value;
  }
  return out.str();
}

template <typename T>
std::string show(const std::optional<T>& value) {
  return value ? show(*value) : "none";
}

std::string show(const VisitorId& visitor) { return "visitor " + std::to_string(visitor.low - 1); }

std::string show(const Counters& counters) {
  std::ostringstream out;
  out << "granted " << counters.granted << " refused";
  for (const auto refused : counters.refused) out << ' ' << refused;
  out << " expired " << counters.expired << " revoked " << counters.revoked << " died "
      << counters.died << " missed " << counters.missed << " abandoned " << counters.abandoned
      << " waits";
  for (const auto wait : counters.waits) out << ' ' << wait;
  out << " sum " << counters.wait_sum.count();
  return out.str();
}

}  // namespace

Twins::Twins(std::uint32_t seed, const Profile& profile, Pace pace)
    : profile_(profile),
      pace_(pace),
      draw_(seed % 2'147'483'646 + 1),
      shard_(head_, memory_, listener_, kStore, 0, owners_.lists()),
      reference_(seed % 2'147'483'646 + 1) {
  pass_time({});
  if (pace_ == Pace::lazy) touch_all();
}

std::string Twins::apply(const Operation& operation) {
  pass_time(operation);
  const TokenPair token = choose_token(operation);
  const bool newcomer = !reference_.knows(gate_text(operation.gate), visitor_id(operation.visitor));
  listener_.told.clear();
  (void)reference_.take_told();
  const std::string held_at = token.real.gate.text();
  reference_.set_quiet(!model::ShardProbe(shard_).due(held_at, gate_hash(held_at), context_.now));
  Reply expected;
  try {
    expected = perform(reference_, operation, token.reference);
  } catch (const InvalidArgument&) {
    expected = Rejected{};
  }
  const Reply reply = trial::perform(shard_, operation, token.real, context_);
  compare(reply, expected);
  check_told();
  if (operation.step == Step::admit && newcomer) check_grant(operation.asks.front(), reply);
  if (needs_token(operation.step)) {
    look_at(held_at);
  } else {
    look_at(gate_text(operation.gate));
  }
  for (const Ask& ask : operation.asks) look_at(gate_text(ask.gate));
  if (++steps_ % 64 == 0) look_around();
  return std::exchange(difference_, {});
}

void Twins::pass_time(const Operation& operation) {
  now_ += operation.after;
  wall_ += operation.after + operation.wall_jump;
  context_.now = now_.count();
  context_.wall = wall_.count();
  reference_.set_time(now_, wall_);
  head_.sweep = 0;  // Gates are swept in the order of their names, so that lotteries draw alike,
  head_.steps = 0;  // and never in passing: the reference could not know which.
  if (steps_ % 32 == 0) {
    listener_.unreachable.clear();
    if (steps_ % 128 == 0) listener_.unreachable.insert(visitor_id(steps_ % profile_.visitors));
    reference_.set_unreachable(listener_.unreachable);
    settle_all();  // A step that finds nothing due may not look who is there.
  }
  if (pace_ == Pace::eager) {
    settle_all();
    shard_.sweep_all(context_);
    reference_.collect();
  } else if (now_ - last_touch_ > 5min) {
    touch_all();
  }
}

// In one order, so that lotteries draw alike.
void Twins::settle_all() {
  for (std::size_t i = 0; i < profile_.gates; ++i) {
    (void)shard_.counts(gate_text(i), gate_hash(gate_text(i)), context_);
    (void)reference_.look(gate_text(i));
  }
}

void Twins::touch_all() {
  last_touch_ = now_;
  for (std::size_t i = 0; i < profile_.gates; ++i) {
    Operation touch{.step = Step::pause, .gate = i, .length = 1us, .reporter = "touch"};
    for (const Step step : {Step::pause, Step::resume}) {
      touch.step = step;
      (void)trial::perform(shard_, touch, Token{.gate = "none"}, context_);
      (void)perform(reference_, touch, Token{.gate = "none"});
    }
  }
}

Twins::TokenPair Twins::choose_token(const Operation& operation) const {
  if (tokens_.empty()) return {{kStore, "g/0", {}, 1}, {0, "g/0", {}, 1}};
  return tokens_[operation.token % tokens_.size()];
}

void Twins::look_at(const std::string& gate) {
  const auto real = shard_.look(gate, gate_hash(gate), context_);
  const auto reference = reference_.look(gate);
  same("gate known", real.has_value(), reference.has_value());
  if (!real || !reference) return;
  compare(*real, *reference);
  check_slots(*real);
  for (std::size_t i = 0; i < profile_.visitors; ++i) {
    const auto found = shard_.find_visit(gate, gate_hash(gate), visitor_id(i));
    same("visit known", static_cast<bool>(found), reference_.knows(gate, visitor_id(i)));
  }
}

void Twins::look_around() {
  for (std::size_t i = 0; i < profile_.gates; ++i) look_at(gate_text(i));
  same("has lines", shard_.has_lines(), reference_.has_lines());
  if (pace_ == Pace::lazy) return;
  std::vector<std::string> names;
  shard_.list(names, context_);
  std::ranges::sort(names);
  if (names != reference_.list()) difference_ += "list: different gates\n";
}

void Twins::check_told() {
  for (const VisitorId& visitor : reference_.take_told()) {
    if (!listener_.told.contains(visitor)) difference_ += show(visitor) + " was not told\n";
  }
}

// Law 1, by the rules' own word.
void Twins::check_grant(const Ask& ask, const Reply& reply) {
  const auto* answer = std::get_if<Answer>(&reply);
  const auto* granted = answer == nullptr ? nullptr : std::get_if<Granted>(answer);
  if (granted == nullptr || !ask.permits) return;
  const auto view = shard_.look(gate_text(ask.gate), gate_hash(gate_text(ask.gate)), context_);
  std::uint32_t limit = view->override_limit.value_or(ask.permits->limit);
  if (ask.permits->exclusive) limit = std::min(limit, ask.permits->limit);
  // Visitors that were handed a slot later in the same step were judged by their own limits.
  std::uint32_t in_use = 0;
  for (const HolderView& holder : view->holders) {
    if (holder.fence <= granted->token.fence) in_use += holder.weight;
  }
  const bool alone = view->override_limit && in_use == ask.permits->weight && limit > 0;
  same("within the limit", in_use <= limit || alone, true);
  same("slot below the limit", granted->slot.value_or(0) < limit, true);
}

// --- comparison ---

template <typename T>
void Twins::same(const char* what, const T& real, const T& reference) {
  if (real == reference) return;
  difference_ +=
      std::string(what) + ": " + show(real) + ", the reference says " + show(reference) + "\n";
}

void Twins::compare(const Reply& real, const Reply& reference) {
  same("kind of reply", real.index(), reference.index());
  if (real.index() != reference.index()) return;
  std::visit([&](const auto& a) { compare(a, std::get<std::decay_t<decltype(a)>>(reference)); },
             real);
}

void Twins::compare(const Answer& real, const Answer& reference) {
  same("kind of answer", real.index(), reference.index());
  if (real.index() != reference.index()) return;
  std::visit([&](const auto& a) { compare(a, std::get<std::decay_t<decltype(a)>>(reference)); },
             real);
}

void Twins::compare(const GroupAnswer& real, const GroupAnswer& reference) {
  same("granted parts", real.granted.size(), reference.granted.size());
  same("kind of group answer", real.because.index(), reference.because.index());
  same("at", real.at, reference.at);
  if (real.granted.size() != reference.granted.size()) return;
  for (std::size_t i = 0; i < real.granted.size(); ++i)
    compare(real.granted[i], reference.granted[i]);
  if (real.because.index() != reference.because.index() || real.because.index() == 0) return;
  if (const auto* queued = std::get_if<Queued>(&real.because)) {
    compare(*queued, std::get<Queued>(reference.because));
  } else {
    compare(std::get<Refused>(real.because), std::get<Refused>(reference.because));
  }
}

void Twins::compare(const std::optional<Granted>& real, const std::optional<Granted>& reference) {
  same("adopted", real.has_value(), reference.has_value());
  if (real && reference) compare(*real, *reference);
}

void Twins::compare(const Granted& real, const Granted& reference) {
  same("store", real.token.store, kStore);
  same("gate", real.token.gate.text(), reference.token.gate.text());
  same("visitor", real.token.visitor, reference.token.visitor);
  same("expires_in", real.expires_in, reference.expires_in);
  same("has slot", real.slot.has_value(), reference.slot.has_value());
  same("repeated", real.repeated, reference.repeated);
  same("taken", real.taken, reference.taken);
  same("delay", real.delay, reference.delay);
  compare(real.rate, reference.rate);
  compare_fences(real.token.gate.text(), real.token.fence, reference.token.fence);
  tokens_.push_front({real.token, reference.token});
  if (tokens_.size() > kTokens) tokens_.pop_back();
}

void Twins::compare(const Queued& real, const Queued& reference) {
  same("position", real.position, reference.position);
  same("waiting", real.waiting, reference.waiting);
  same("next_check", real.next_check, reference.next_check);
  same("eta", real.eta, reference.eta);
  compare(real.rate, reference.rate);
}

void Twins::compare(const Refused& real, const Refused& reference) {
  same("reason", real.reason, reference.reason);
  same("retry_after", real.retry_after, reference.retry_after);
  same("waited", real.waited, reference.waited);
  compare(real.rate, reference.rate);
}

void Twins::compare(const RateInfo& real, const RateInfo& reference) {
  same("rate limit", real.limit, reference.limit);
  same("rate remaining", real.remaining, reference.remaining);
  same("rate retry_after", real.retry_after, reference.retry_after);
  same("rate reset_after", real.reset_after, reference.reset_after);
}

void Twins::compare(const GateView& real, const GateView& reference) {
  same("in_use", real.counts.in_use, reference.counts.in_use);
  same("limit", real.counts.limit, reference.counts.limit);
  same("holders", real.counts.holders, reference.counts.holders);
  same("waiting", real.counts.waiting, reference.counts.waiting);
  same("exclusive", real.counts.exclusive, reference.counts.exclusive);
  same("override", real.override_limit, reference.override_limit);
  same("limits disagree", real.limits_disagree, reference.limits_disagree);
  same("order", real.order, reference.order);
  same("counters", real.counters, reference.counters);
  same("listed holders", real.holders.size(), reference.holders.size());
  same("line", real.line.size(), reference.line.size());
  same("pauses", real.pauses.size(), reference.pauses.size());
  if (!difference_.empty()) return;
  compare_fences(real.name, real.last_fence, reference.last_fence);
  for (const HolderView& holder : reference.holders) {
    const auto found = std::ranges::find(real.holders, holder.visitor, &HolderView::visitor);
    same("holder", found != real.holders.end(), true);
    if (found != real.holders.end()) compare(*found, holder, real.name);
  }
  same("oldest first", std::ranges::is_sorted(real.holders, std::greater(), &HolderView::age),
       true);
  for (std::size_t i = 0; i < real.line.size(); ++i) compare(real.line[i], reference.line[i]);
  for (std::size_t i = 0; i < real.pauses.size(); ++i) {
    same("reporter", real.pauses[i].reporter, reference.pauses[i].reporter);
    same("pause", real.pauses[i].remaining, reference.pauses[i].remaining);
  }
  compare_rates(real, reference);
}

void Twins::compare(const HolderView& real, const HolderView& reference, const std::string& gate) {
  compare_fences(gate, real.fence, reference.fence);
  same("label", real.label, reference.label);
  same("weight", real.weight, reference.weight);
  same("has slot", real.slot.has_value(), reference.slot.has_value());
  same("age", real.age, reference.age);
  same("remaining", real.remaining, reference.remaining);
  same("claimed", real.claimed, reference.claimed);
  same("revoked", real.revoked, reference.revoked);
  same("hold", real.hold, reference.hold);
}

void Twins::compare(const WaiterView& real, const WaiterView& reference) {
  same("waiter", real.visitor, reference.visitor);
  same("label", real.label, reference.label);
  same("weight", real.weight, reference.weight);
  same("priority", real.priority, reference.priority);
  same("waited", real.waited, reference.waited);
  same("present", real.present, reference.present);
  same("hold", real.hold, reference.hold);
}

// A tier that is as if never used may be shown or not.
void Twins::compare_rates(const GateView& real, const GateView& reference) {
  std::size_t used = 0;
  for (const RateView& shown : real.rates) {
    const auto found = std::ranges::find_if(reference.rates, [&](const RateView& other) {
      return other.rate.algorithm == shown.rate.algorithm && other.rate.period == shown.rate.period;
    });
    if (found == reference.rates.end()) {
      same("remaining of an unused tier", shown.info.remaining, shown.info.limit);
      same("reset_after of an unused tier", shown.info.reset_after, Duration(0));
      continue;
    }
    ++used;
    same("tier", shown.rate.text(), found->rate.text());
    compare(shown.info, found->info);
  }
  same("tiers in use", used, reference.rates.size());
}

// The rules' fences come in the same order as the reference's, each to one.
void Twins::compare_fences(const std::string& gate, Fence real, Fence reference) {
  same("fenced", real != 0, reference != 0);
  if (real == 0 || reference == 0) return;
  std::map<Fence, Fence>& known = fences_[gate];
  const auto place = known.lower_bound(reference);
  if (place != known.end() && place->first == reference) return same("fence", real, place->second);
  const bool above = place == known.begin() || std::prev(place)->second < real;
  const bool below = place == known.end() || real < place->second;
  same("fence in order", above && below, true);
  known.emplace_hint(place, reference, real);
}

// A holder of weight 1 has a slot of its own, and keeps it.
void Twins::check_slots(const GateView& real) {
  std::set<std::uint32_t> taken;
  for (const HolderView& holder : real.holders) {
    if (holder.slot) same("slot is its own", taken.insert(*holder.slot).second, true);
    const auto [known, added] = slots_.try_emplace({real.name, holder.fence}, holder.slot);
    if (known->second && holder.slot) same("slot", *holder.slot, *known->second);
    known->second = holder.slot;
  }
}

}  // namespace airlock::trial
