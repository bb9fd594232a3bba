#include "admission/admission_context.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "airlock/error.hpp"
#include "base/quote.hpp"
#include "seal/steps.hpp"
#include "store/validate.hpp"

namespace airlock::internal {
namespace {

// How long a hand-over waits to be claimed by a thread that waits for it.
constexpr Duration kParkedWindow = std::chrono::seconds(1);

void check_max_wait(Duration max_wait) {
  if (max_wait >= Duration(0)) return;
  throw InvalidArgument("max_wait " + to_text(max_wait) + ": 0 or more is needed");
}

std::optional<Permits> permits_of(const AirlockOptions& options) {
  if (options.limit == 0) return std::nullopt;
  return Permits{.limit = options.limit, .ttl = options.ttl, .exclusive = options.exclusive};
}

Line line_of(const AirlockOptions& options) {
  return {.order = options.order,
          .barging = options.barging,
          .max_waiting = options.max_waiting,
          .patience = options.patience,
          .claim_window = options.claim_window.value_or(kParkedWindow),
          .aging = options.aging};
}

}  // namespace

AdmissionContext::AdmissionContext(const Store& store, AirlockOptions options)
    : store_(backend_of(store)), options_(std::move(options)) {
  if (options_.max_hold <= Duration(0)) throw InvalidArgument("max_hold: above 0 is needed");
  if (options_.outage == Outage::local && options_.local_limit == 0) {
    throw InvalidArgument("local_limit 0: 1 or more is needed");
  }
  check_max_wait(options_.max_wait);
  if (options_.limit != 0) {
    seal::check_lease_ttl("ttl", options_.ttl);
    seal::check_lease_ttl("max_hold", options_.max_hold);
  }
  options_.ttl = std::min<Duration>(options_.ttl, options_.max_hold);
  permits_ = permits_of(options_);
  line_ = line_of(options_);
  validate(request("-", {}, {}));
  (void)keeper();
}

const std::shared_ptr<Keeper>& AdmissionContext::shared_keeper() {
  return keeper_.get([this] { return Keeper::of(store_); });
}

void AdmissionContext::throw_closed(const GateName& gate) {
  throw StoreError(StoreError::Kind::closed, StoreError::Outcome::nothing_happened,
                   "gate " + base::quoted(gate.view()) + ": this process has closed the store");
}

Request AdmissionContext::request(const GateName& gate, const VisitorId& visitor,
                                  const Ask& ask) const {
  Request request{.gate = gate,
                  .visitor = visitor,
                  .label = ask.label,
                  .permits = permits_,
                  .rates = options_.rates,
                  .cost = ask.cost,
                  .line = line_};
  if (request.permits) request.permits->weight = ask.weight;
  request.line.priority = ask.priority;
  return request;
}

Lease AdmissionContext::take(const Granted& granted, Instant sent) try {
  return keeper().keep(granted, sent,
                       {.ttl = options_.ttl,
                        .max_hold = options_.max_hold,
                        .guarded = guards_,
                        .observer = options_.observer});
} catch (...) {
  give_back(granted, sent);
  throw;
}

void AdmissionContext::give_back(const Granted& granted, Instant sent) noexcept {
  if (granted.token.fence == 0) return;
  try {
    store_->release(granted.token);
  } catch (const std::exception&) {
    keeper().release_later(granted.token, saturating_add(sent, granted.expires_in));
  }
}

void AdmissionContext::give_up(const GateName& gate, const VisitorId& visitor) noexcept {
  const auto lasts = std::max<Duration>({options_.ttl, line_.patience, line_.claim_window});
  keeper().release_later({.store = 0, .gate = gate, .visitor = visitor},
                         saturating_add(keeper().clock().now(), lasts));
}

Outcome<Lease> AdmissionContext::try_enter(const GateName& gate, const Ask& ask) {
  Keeper& keeper = this->keeper();
  if (keeper.is_closing()) throw_closed(gate);
  const Instant sent = keeper.clock().recently();
  const VisitorId visitor = VisitorId::random();
  try {
    const Answer answer = store_->admit(request(gate, visitor, ask));
    if (const auto* granted = std::get_if<Granted>(&answer)) {
      Lease lease = take(*granted, sent);
      tell({.kind = Event::Kind::granted, .gate = gate.view()});
      return lease;
    }
    const auto& refused = std::get<Refused>(answer);
    tell({.kind = Event::Kind::refused, .gate = gate.view(), .reason = refused.reason});
    return refused;
  } catch (const StoreError& error) {
    const bool perhaps = error.outcome() == StoreError::Outcome::unknown;
    if (perhaps && permits_) give_up(gate, visitor);
    return apply_outage_policy(gate, ask, error);
  }
}

Outcome<Lease> AdmissionContext::apply_outage_policy(const GateName& gate, const Ask& ask,
                                                     const StoreError& cause) {
  if (options_.outage == Outage::closed || cause.kind() != StoreError::Kind::unavailable) {
    tell({.kind = Event::Kind::failed, .gate = gate.view()});
    seal::throw_not_asked(gate, cause);
  }
  if (options_.outage == Outage::local) {
    Outcome<Lease> lease = local().try_enter(gate, {.label = ask.label});
    if (!lease) {
      tell({.kind = Event::Kind::refused, .gate = gate.view(), .reason = lease.error().reason});
      return lease;
    }
    tell({.kind = Event::Kind::let_past, .gate = gate.view()});
    return lease;
  }
  tell({.kind = Event::Kind::let_past, .gate = gate.view()});
  const Granted open{.token = {.store = 0, .gate = gate, .visitor = {}, .fence = 0}};
  return keeper().keep(open, Instant{0}, {.guarded = false});
}

// As many as local_limit, of this process alone.
AdmissionContext& AdmissionContext::local() {
  return *local_.get([this] {
    AirlockOptions options;
    options.limit = options_.local_limit;
    options.ttl = options_.ttl;
    auto local = std::make_unique<AdmissionContext>(open_store("memory:"), options);
    local->guards_ = false;
    return local;
  });
}

}  // namespace airlock::internal
