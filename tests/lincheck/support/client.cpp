#include "lincheck/support/client.hpp"

#include <sched.h>

#include <thread>
#include <utility>

#include "airlock/error.hpp"

namespace airlock::lincheck {
namespace {

using namespace std::chrono_literals;

Result result_of(const Granted& granted) {
  return granted.repeated ? Result::repeated : Result::granted;
}

// Tokens can be given back once only; visitors ask and leave as often as they like.
bool may_be_repeated(Kind kind) {
  return kind == Kind::ask || kind == Kind::join || kind == Kind::leave;
}

// What an answer says, as it is written down.
void note(const Answer& answer, Operation& operation) {
  if (const auto* granted = std::get_if<Granted>(&answer)) {
    operation.result = result_of(*granted);
    operation.fence = granted->token.fence;
    operation.number = granted->slot.value_or(kNoSlot);
  } else if (const auto* queued = std::get_if<Queued>(&answer)) {
    operation.result = Result::queued;
    operation.number = queued->position;
  } else if (const Reason reason = std::get<Refused>(answer).reason;
             reason == Reason::full || reason == Reason::rate) {
    operation.result = Result::refused;
  }
}

}  // namespace

Client::Client(const Access& access, const Plan& plan, std::uint8_t number, Ring& ring)
    : access_(access),
      plan_(plan),
      gate_(plan.gate.data()),
      number_(number),
      neighbour_(static_cast<std::uint8_t>((number + 1) % plan.clients)),
      ring_(ring),
      random_(plan.seed + number) {}

void Client::run() {
  for (std::uint8_t i = 0; i < plan_.operations; ++i) {
    act();
    pause();
  }
  give_back();
}

// --- what comes to its mind ---

void Client::act() { plan_.subject == Subject::rate ? take() : act_at_gate(); }

void Client::act_at_gate() {
  const bool other = plan_.visitors_are_shared && below(6) == 0;
  const std::uint8_t visitor = other ? neighbour_ : number_;
  const Kind kind = plan_.subject == Subject::line && below(4) != 0 ? Kind::join : Kind::ask;
  const std::uint32_t weight = 1 + below(below(3) == 0 ? plan_.limit : 1);
  switch (below(8)) {
    case 0:
      return look();
    case 1:
      if (stale_) return use_token(Kind::release, *stale_, number_);
      break;
    case 2:
      if (held_) return use_token(Kind::renew, *held_, number_);
      break;
    case 3:
      if (held_) return use_token(Kind::release, other_token(), neighbour_);
      if (waits_) return leave();
      break;
    default:
      if (held_) return use_token(Kind::release, *held_, number_);
  }
  ask(kind, visitor, weight);
}

void Client::give_back() {
  if (plan_.subject == Subject::rate) return;
  if (held_) use_token(Kind::release, *held_, number_);
  if (plan_.subject == Subject::line) leave();
}

// Those at work together are to meet; who is to be killed is to be killed in the middle of a step.
void Client::pause() {
  if ((plan_.victims >> number_ & 1) != 0) return;
  const std::uint32_t chance = below(4);
  if (chance == 0) sched_yield();
  if (chance == 1 && plan_.subject == Subject::rate) {
    std::this_thread::sleep_for(
        Duration(below(static_cast<std::uint32_t>(plan_.rate.period.count()))));
  }
}

bool Client::ask_for_all() {
  held_.reset();
  ask(Kind::ask, number_, plan_.limit);
  return held_.has_value();
}

// --- the steps ---

// A failure that may have happened is left unanswered; one that surely has not is as if it had not been
// asked. What was perhaps done twice is written down twice, once without an answer.
template <typename Call>
void Client::record(const Operation& operation, const Call& call) {
  const std::uint64_t before = access_.connections ? access_.connections() : 0;
  Operation& noted = ring_.begin(operation);
  try {
    call(noted);
    Ring::end(noted);
  } catch (const StoreError& error) {
    if (error.outcome() == StoreError::Outcome::nothing_happened) return ring_.drop_last();
  }
  if (!may_be_repeated(operation.kind) || !access_.connections || access_.connections() == before)
    return;
  Operation twice = operation;
  twice.called = noted.called;
  ring_.add(twice);
}

void Client::ask(Kind kind, std::uint8_t visitor, std::uint32_t weight) {
  Request request{.gate = gate_, .visitor = id_of(visitor), .label = "lincheck"};
  request.permits = Permits{.limit = plan_.limit, .weight = weight, .ttl = 1h};
  request.hold = plan_.hold;
  request.line.join = kind == Kind::join;
  request.line.patience = 1h;
  request.line.claim_window = 1h;
  const Operation operation{.client = number_, .kind = kind, .visitor = visitor, .weight = weight};
  record(operation, [&](Operation& noted) {
    const Answer answer = access_.store.admit(request);
    note(answer, noted);
    if (visitor != number_) return;
    if (const auto* granted = std::get_if<Granted>(&answer)) held_ = granted->token;
    waits_ = std::holds_alternative<Queued>(answer);
  });
}

// Of somebody else: the visitor next to this one, with this one's fence.
Token Client::other_token() {
  Token token = *held_;
  token.visitor = id_of(neighbour_);
  token.place = 0;
  return token;
}

void Client::use_token(Kind kind, const Token& token, std::uint8_t visitor) {
  const Operation operation{
      .client = number_, .kind = kind, .visitor = visitor, .fence = token.fence};
  const bool own = held_ && *held_ == token;
  record(operation, [&](Operation& noted) {
    const bool done = kind == Kind::release ? access_.store.release(token)
                                            : access_.store.renew(token, 1h) == Renewal::renewed;
    noted.result = done ? Result::yes : Result::no;
    if (!own || (done && kind == Kind::renew)) return;
    stale_ = std::exchange(held_, std::nullopt);
  });
}

void Client::leave() {
  const Operation operation{.client = number_, .kind = Kind::leave, .visitor = number_};
  record(operation, [&](Operation& noted) {
    noted.result = access_.store.leave(gate_, id_of(number_)) ? Result::yes : Result::no;
    waits_ = false;
  });
}

void Client::look() {
  record({.client = number_, .kind = Kind::look}, [&](Operation& noted) {
    noted.number = access_.store.counts({&gate_, 1}).front().in_use;
    noted.result = Result::seen;
  });
}

void Client::take() {
  const std::uint32_t burst = plan_.rate.burst != 0 ? plan_.rate.burst : plan_.rate.count;
  const std::uint32_t cost = 1 + below(below(3) == 0 ? burst : 1);
  const Request request{.gate = gate_,
                        .visitor = id_of(number_),
                        .label = "lincheck",
                        .rates = {&plan_.rate, 1},
                        .cost = cost};
  const Operation operation{.client = number_, .kind = Kind::take, .weight = cost};
  record(operation, [&](Operation& noted) { note(access_.store.admit(request), noted); });
}

}  // namespace airlock::lincheck
