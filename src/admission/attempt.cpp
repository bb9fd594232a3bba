#include "admission/attempt.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "airlock/error.hpp"
#include "base/fork.hpp"
#include "store/call_limit.hpp"

namespace airlock::internal {
namespace {

// A store that failed while its visitor waits is asked again after this.
constexpr Duration kAskFailed = std::chrono::milliseconds(100);

// What a step may take when the time to wait is over: it ends soon after, whatever the store does.
constexpr Duration kLastStep = std::chrono::milliseconds(25);

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

Attempt::Attempt(AdmissionClient& client, const GateName& gate, const Ask& ask, Duration max_wait)
    : client_(client),
      clock_(client.keeper().clock()),
      gate_(gate),
      ask_(ask),
      label_(ask.label),
      generation_(base::fork_generation()),
      began_(clock_.now()),
      deadline_(saturating_add(began_, std::max(max_wait, Duration(0)))) {
  ask_.label = label_;
}

Attempt::~Attempt() { leave(); }

bool Attempt::is_over() const { return ask_.stop.stop_requested() || clock_.now() >= deadline_; }

// The first question has all the time that the store gives it.
Duration Attempt::time_left() const {
  if (!has_asked_ || deadline_ == kForever) return kForever;
  return std::max(deadline_ - clock_.now(), kLastStep);
}

void Attempt::decide(Outcome<Lease> outcome) {
  queued_.reset();
  outcome_ = std::move(outcome);
  if (outcome_->has_value()) {
    client_.tell({.kind = Event::Kind::granted, .gate = gate_.view(), .waited = waited()});
  } else {
    client_.tell({.kind = Event::Kind::refused,
                  .gate = gate_.view(),
                  .waited = waited(),
                  .reason = outcome_->error().reason});
  }
}

bool Attempt::ask() {
  Keeper& keeper = client_.keeper();
  if (keeper.is_closing()) {
    leave();
    AdmissionClient::throw_closed(gate_);
  }
  Request request = client_.request(gate_, visitor_, ask_);
  request.line.join = deadline_ > began_;
  if (client_.options().refuse_late && !queued_) request.line.max_eta = deadline_ - began_;
  const Instant sent = clock_.now();
  const CallLimit limit(time_left());
  has_asked_ = true;
  const Answer answer = client_.store()->admit(request);
  is_unsure_ = false;
  if (const auto* granted = std::get_if<Granted>(&answer)) {
    queued_.reset();
    decide(client_.take(*granted, sent));
  } else if (const auto* refused = std::get_if<Refused>(&answer)) {
    Refused with_wait = *refused;
    with_wait.waited = waited();
    decide(with_wait);
  } else {
    note(std::get<Queued>(answer), request.line.claim_window);
  }
  return outcome_.has_value();
}

void Attempt::note(const Queued& queued, Duration claim_window) {
  const bool is_new = !queued_;
  const bool moves = is_new || queued.position < queued_->position;
  queued_ = queued;
  const Backend::RecheckIntervals recheck = client_.keeper().store().recheck_intervals();
  overdue_ = moves ? recheck.overdue : saturating_add(overdue_, overdue_);
  // The longer the wait, the less exactly its end is known.
  const Duration late = std::max(overdue_, std::min(queued.eta, claim_window) / 2);
  next_ask_ = saturating_add(
      clock_.now(), std::min({queued.next_check, next_recheck(recheck, queued, claim_window),
                              saturating_add(queued.eta, late)}));
  if (!is_new) return;
  client_.tell({.kind = Event::Kind::queued, .gate = gate_.view(), .position = queued.position});
}

void Attempt::join() {
  try {
    (void)advance();
  } catch (const SealAcquiringError&) {
    failure_ = std::current_exception();
  }
}

bool Attempt::advance() {
  if (outcome_) return true;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (queued_ && is_over() && !std::exchange(news_, false)) {
    give_up();
    return true;
  }
  const bool failed_before = std::exchange(ask_failed_, false);
  try {
    ask();
  } catch (const StoreError& error) {
    note(error, failed_before);
  }
  return outcome_.has_value();
}

// In the line a failure of the store is not the end: the place is kept, perhaps. But rates without
// permits leave nothing that a second question would find, and would be charged again. A question
// that ended with the time to wait says nothing of the store.
void Attempt::note(const StoreError& error, bool failed_before) {
  if (error.kind() == StoreError::Kind::closed) throw;
  is_unsure_ = is_unsure_ || error.outcome() == StoreError::Outcome::unknown;
  const bool may_ask_again = !is_unsure_ || client_.options().limit != 0;
  if (queued_ && may_ask_again && !is_over()) {
    next_ask_ = clock_.now() + kAskFailed;
    ask_failed_ = true;
  } else if (queued_ && may_ask_again && !failed_before) {
    give_up();
  } else {
    outcome_ = client_.apply_outage_policy(gate_, ask_, error);
  }
}

bool Attempt::watch(std::function<void()> changed) {
  if (ask_failed_) return true;  // There may be news, but they cannot be asked for yet.
  const CallLimit limit(time_left());
  try {
    watched_ = true;
    return client_.keeper().store().watch(gate_, visitor_, std::move(changed));
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
  const auto wake = [sleeper = sleeper_] { sleeper->wake(false); };
  const std::stop_callback on_stop(ask_.stop, wake);
  const std::stop_callback on_close(client_.keeper().closing(), wake);
  if (!ask_failed_) {  // Else there may be news, but they cannot be asked for yet.
    const CallLimit limit(time_left());
    try {
      watched_ = true;
      news_ = client_.keeper().store().await(gate_, visitor_, sleeper_, next());
      return;
    } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): then time alone wakes it
    }
  }
  news_ = sleeper_->sleep(clock_, next());
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
    Backend& store = client_.keeper().store();
    if (watched_) store.unwatch(gate_, visitor_);
    if (!is_unsure) {
      store.leave(gate_, visitor_);
      return;
    }
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): tried again below
  }
  client_.give_up(gate_, visitor_);
}

}  // namespace airlock::internal
