#include "admission/attempt.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "airlock/error.hpp"
#include "base/fork.hpp"
#include "store/call_limit.hpp"
#include "store/validate.hpp"

namespace airlock::internal {
namespace {

// A store that failed while its visitor waits is asked again after this.
constexpr Duration kAskFailed = std::chrono::milliseconds(100);

// What a step may take when the time to wait is over: it ends soon after, whatever the store does.
constexpr Duration kLastStep = std::chrono::milliseconds(25);

// What a first question may take on the thread of a caller that must not wait.
constexpr Duration kAtOnce = std::chrono::microseconds(500);

// Whether a part of the store was busy for all the time that there was, and was not asked.
bool is_busy(const std::exception_ptr& failure) try {
  if (failure) std::rethrow_exception(failure);
  return false;
} catch (const StoreError& error) {
  return error.kind() == StoreError::Kind::busy &&
         error.outcome() == StoreError::Outcome::nothing_happened;
} catch (...) {
  return false;
}

// What a caller of enter() who came too late is told.
Refused late(const Queued& queued, Duration waited) {
  return {.reason = Reason::late,
          .retry_after = std::max(queued.eta, queued.next_check),
          .rate = queued.rate,
          .waited = waited};
}

// Where nobody may have told it: the sooner the nearer it is to the head, and early enough to take
// what it was handed.
Duration next_recheck(const Backend::RecheckIntervals& recheck, const Queued& queued,
                      Duration claim_window) {
  if (recheck.others == kForever) return queued.position == 1 ? recheck.head : kForever;
  const Duration head = std::min(recheck.head, recheck.others);
  return std::clamp(claim_window / 2, head, std::min(queued.position * head, recheck.others));
}

}  // namespace

Attempt::Attempt(AdmissionContext& context, const GateName& gate, const Ask& ask, Duration max_wait)
    : context_(context),
      clock_(context.keeper().clock()),
      gate_(gate),
      ask_(ask),
      label_(ask.label),
      generation_(base::fork_generation()),
      began_(clock_.now()),
      deadline_(saturating_add(began_, std::max(max_wait, Duration(0)))) {
  ask_.label = label_;
}

Attempt::Attempt(Attempt&& other) noexcept
    : context_(other.context_),
      clock_(other.clock_),
      gate_(other.gate_),
      ask_(other.ask_),
      label_(std::move(other.label_)),
      generation_(other.generation_),
      began_(other.began_),
      deadline_(other.deadline_),
      visitor_(other.visitor_),
      next_ask_(other.next_ask_),
      overdue_(other.overdue_),
      queued_(std::exchange(other.queued_, std::nullopt)),
      sent_(other.sent_),
      ask_failed_(other.ask_failed_),
      failed_before_(other.failed_before_),
      is_unsure_(std::exchange(other.is_unsure_, false)),
      has_asked_(other.has_asked_),
      leaves_later_(other.leaves_later_) {
  ask_.label = label_;
}

Attempt::~Attempt() { leave(); }

bool Attempt::is_over() const { return ask_.stop.stop_requested() || clock_.now() >= deadline_; }

Duration Attempt::time_left() const {
  if (!has_asked_ || deadline_ == kForever) return kForever;
  return std::max(deadline_ - clock_.now(), kLastStep);
}

void Attempt::decide(Outcome<Lease> outcome) {
  queued_.reset();
  outcome_ = std::move(outcome);
  if (outcome_->has_value()) {
    context_.tell({.kind = Event::Kind::granted, .gate = gate_.view(), .waited = waited()});
  } else {
    context_.tell({.kind = Event::Kind::refused,
                   .gate = gate_.view(),
                   .waited = waited(),
                   .reason = outcome_->error().reason});
  }
}

std::optional<Request> Attempt::begin() {
  if (is_decided()) return std::nullopt;
  if (queued_ && is_over() && !std::exchange(news_, false)) {
    give_up();
    return std::nullopt;
  }
  if (context_.keeper().is_closing()) {
    leave();
    AdmissionContext::throw_closed(gate_);
  }
  Request request = context_.request(gate_, visitor_, ask_);
  request.line.join = deadline_ > began_;
  if (context_.options().refuse_late && !queued_) request.line.max_eta = deadline_ - began_;
  failed_before_ = std::exchange(ask_failed_, false);
  sent_ = clock_.now();
  return request;
}

void Attempt::end(AdmitItem& item) {
  has_asked_ = true;
  try {
    if (item.failure) std::rethrow_exception(std::exchange(item.failure, nullptr));
    take_in(*item.answer);
  } catch (const StoreError& error) {
    note(error);
  }
}

void Attempt::take_in(const Answer& answer) {
  is_unsure_ = false;
  if (const auto* granted = std::get_if<Granted>(&answer)) {
    queued_.reset();
    decide(context_.take(*granted, sent_));
  } else if (const auto* refused = std::get_if<Refused>(&answer)) {
    Refused with_wait = *refused;
    with_wait.waited = waited();
    decide(with_wait);
  } else {
    note(std::get<Queued>(answer));
  }
}

void Attempt::note(const Queued& queued) {
  const Duration claim_window = context_.claim_window();
  const bool is_new = !queued_;
  const bool moves = is_new || queued.position < queued_->position;
  queued_ = queued;
  const Backend::RecheckIntervals recheck = context_.keeper().store().recheck_intervals();
  overdue_ = moves ? recheck.overdue : saturating_add(overdue_, overdue_);
  // The longer the wait, the less exactly its end is known.
  const Duration late = std::max(overdue_, std::min(queued.eta, claim_window) / 2);
  next_ask_ = saturating_add(
      clock_.now(), std::min({queued.next_check, next_recheck(recheck, queued, claim_window),
                              saturating_add(queued.eta, late)}));
  if (!is_new) return;
  context_.tell({.kind = Event::Kind::queued, .gate = gate_.view(), .position = queued.position});
}

void Attempt::join() {
  try {
    (void)advance();
  } catch (const SealAcquiringError&) {
    failure_ = std::current_exception();
  }
}

void Attempt::check() {
  validate(*begin());
  sent_ = Instant{0};
}

bool Attempt::try_join() {
  const CallLimit limit(kAtOnce);
  AdmitItem item{*begin()};
  context_.store()->admit_each({&item, 1});
  if (is_busy(item.failure)) return false;
  try {
    end(item);
  } catch (const SealAcquiringError&) {
    failure_ = std::current_exception();
  }
  return true;
}

bool Attempt::advance() {
  try {
    if (const std::optional<Request> request = begin()) {
      const CallLimit limit(time_left());
      has_asked_ = true;
      take_in(context_.store()->admit(*request));
    }
  } catch (const StoreError& error) {
    note(error);
  }
  return outcome_.has_value();
}

Outcome<Lease> Attempt::take() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return std::move(*outcome_);
}

// In the line a failure of the store is not the end: the place is kept, perhaps. But rates without
// permits leave nothing that a second question would find, and would be charged again. A question
// that ended with the time to wait says nothing of the store.
void Attempt::note(const StoreError& error) {
  if (error.kind() == StoreError::Kind::closed) throw;
  is_unsure_ = is_unsure_ || error.outcome() == StoreError::Outcome::unknown;
  const bool may_ask_again = !is_unsure_ || is_repeatable();
  if (queued_ && may_ask_again && !is_over()) {
    next_ask_ = clock_.now() + kAskFailed;
    ask_failed_ = true;
  } else if (queued_ && may_ask_again && !failed_before_) {
    give_up();
  } else {
    outcome_ = context_.apply_outage_policy(gate_, ask_, error);
  }
}

bool Attempt::watch(std::function<void()> changed) {
  if (ask_failed_) return true;  // There may be news, but they cannot be asked for yet.
  const CallLimit limit(time_left());
  try {
    watched_ = true;
    return context_.keeper().store().watch(gate_, visitor_, std::move(changed));
  } catch (const StoreError&) {
    return true;  // Then time alone wakes it.
  }
}

Outcome<Lease> Attempt::wait() {
  while (!advance()) sleep();
  return take();
}

// Until there is news, it is time to ask again, or the wait is over.
void Attempt::sleep() {
  if (!sleeper_) sleeper_ = std::make_shared<Sleeper>();
  const Instant until = std::min(next_ask_, deadline_);
  const auto wake = [sleeper = sleeper_] { sleeper->wake(false); };
  const std::stop_callback on_stop(ask_.stop, wake);
  const std::stop_callback on_close(context_.keeper().closing(), wake);
  if (!ask_failed_) {  // Else there may be news, but they cannot be asked for yet.
    const CallLimit limit(time_left());
    try {
      watched_ = true;
      news_ = context_.keeper().store().await(gate_, visitor_, sleeper_, until);
      return;
    } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): then time alone wakes it
    }
  }
  news_ = sleeper_->sleep(clock_, until);
}

// --- time is up ---

Instant Attempt::deadline() const noexcept {
  if (queued_) return deadline_;
  return std::max(deadline_, saturating_add(began_, context_.store()->timeout()));
}

bool Attempt::is_stopped() const noexcept {
  return ask_.stop.stop_requested() || context_.shared_keeper()->is_closing();
}

Outcome<Lease> Attempt::too_late() const {
  if (context_.shared_keeper()->is_closing()) AdmissionContext::throw_closed(gate_);
  if (queued_ || ask_.stop.stop_requested()) {
    context_.tell({.kind = Event::Kind::refused,
                   .gate = gate_.view(),
                   .waited = waited(),
                   .reason = Reason::late});
    return late(queued_.value_or(Queued{}), waited());
  }
  try {
    throw StoreError(
        StoreError::Kind::unavailable,
        sent_ == Instant{0} ? StoreError::Outcome::nothing_happened : StoreError::Outcome::unknown,
        "no answer in time");
  } catch (const StoreError& error) {
    return context_.apply_outage_policy(gate_, ask_, error);
  }
}

// Nothing is there after a refusal, and where rates alone decide.
void Attempt::abandon(const AdmitItem& item) noexcept {
  const auto* const granted = item.answer ? std::get_if<Granted>(&*item.answer) : nullptr;
  const bool is_refused = item.answer && std::holds_alternative<Refused>(*item.answer);
  if (is_refused || (granted != nullptr && granted->token.fence == 0)) {
    queued_.reset();
    is_unsure_ = false;
  } else {
    is_unsure_ = true;
  }
  leave();
}

void Attempt::give_up() {
  const Queued queued = *queued_;
  leave();
  decide(late(queued, waited()));
}

// Atomically out of the line, and the line moves on: in the background where that may take long, or
// where it is not known what this visitor has. What a forked child inherits is its parent's.
void Attempt::leave() noexcept {
  if ((!queued_ && !is_unsure_) || generation_ != base::fork_generation()) return;
  queued_.reset();
  const bool is_unsure = std::exchange(is_unsure_, false);
  const CallLimit limit(kLastStep);
  try {
    Backend& store = context_.keeper().store();
    if (watched_) store.unwatch(gate_, visitor_);
    if (!is_unsure && !leaves_later_) {
      store.leave(gate_, visitor_);
      return;
    }
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): tried again below
  }
  context_.give_up(gate_, visitor_);
}

}  // namespace airlock::internal
