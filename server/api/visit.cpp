#include "visit.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "airlock/error.hpp"
#include "api/answers.hpp"
#include "http/loop.hpp"

namespace airlock::server {
namespace {

using namespace std::chrono_literals;

// A place that was watched in vain is asked for after this: a third of the patience, or less where another connection of
// the same visitor may have taken over its watch.
constexpr Duration kRecheck = 3s;
constexpr Duration kRecheckNamed = 1s;

// A store that failed while its visitor waits is asked again after this.
constexpr Duration kRetry = 200ms;

}  // namespace

airlock::Request AdmitCall::request() const {
  return {.gate = gate,
          .visitor = visitor,
          .label = label,
          .permits = permits,
          .rates = rates,
          .cost = cost,
          .line = line,
          .hold = hold};
}

void Visit::start(Api& api, const ExchangePtr& exchange, AdmitCall call) {
  const auto visit = std::make_shared<Visit>(api, exchange, std::move(call));
  exchange->on_end([visit](Exchange::End end) { visit->on_end(end); });
  visit->ask();
}

Visit::Visit(Api& api, const ExchangePtr& exchange, AdmitCall call)
    : api_(api),
      exchange_(exchange),
      loop_(exchange->loop()),
      call_(std::move(call)),
      timer_(loop_.context()) {}

Duration Visit::waited() const {
  return std::chrono::duration_cast<Duration>(Clock::now() - began_);
}

Duration Visit::time_left() const { return saturating_sub(call_.wait, waited()); }

void Visit::ask() {
  if (state_ == State::asking) has_news_ = true;
  if (state_ != State::idle) return;
  state_ = State::asking;
  has_news_ = false;
  timer_.cancel();
  const auto self = shared_from_this();
  const auto step = std::make_shared<Step>();
  const auto changed = [weak = weak_from_this(), &loop = loop_] {
    loop.post([weak] {
      if (const auto visit = weak.lock()) visit->ask();
    });
  };
  api_.steps.run(
      loop_, [self, step, changed] { self->ask_store(*step, changed); },
      [self, step] { self->take_in(step); });
}

// Not on the loop where the store is far: nothing here but the call is looked at.
void Visit::ask_store(Step& step, const std::function<void()>& changed) {
  try {
    step.answer = api_.store.admit(call_.request());
    if (const auto* const granted = std::get_if<Granted>(&*step.answer)) {
      if (call_.is_stream && granted->token.fence != 0) {
        step.lease = Lease::adopt(api_.store, granted->token, call_.permits->ttl);
      } else if (call_.hold == Hold::bound && granted->token.fence != 0) {
        api_.store.disown(granted->token);
      }
    } else if (std::holds_alternative<Queued>(*step.answer)) {
      step.is_watched = api_.store.watch(call_.gate, call_.visitor, changed);
    }
  } catch (const Error&) {
    step.failure = std::current_exception();
  }
}

void Visit::take_in(const std::shared_ptr<Step>& step) {
  if (state_ == State::over) return take_back(*step);
  state_ = State::idle;
  if (step->failure) return take_failure(step->failure);
  if (const auto* const queued = std::get_if<Queued>(&*step->answer))
    return take_queued(*queued, step->is_watched);
  has_place_ = false;
  if (const auto* const granted = std::get_if<Granted>(&*step->answer))
    return take_granted(*granted, *step);
  refuse(std::get<Refused>(*step->answer));
}

// The client was gone, or the server was stopping, before the answer came.
void Visit::take_back(Step& step) {
  const auto* const granted = step.answer ? std::get_if<Granted>(&*step.answer) : nullptr;
  has_place_ = !step.answer || std::holds_alternative<Queued>(*step.answer);  // None: not known.
  if (step.lease) {
    step.lease = {};
  } else if (granted != nullptr && granted->token.fence != 0 && !keeps_place()) {
    release_soon(api_, loop_, granted->token);
  }
  depart();
}

void Visit::take_granted(const Granted& granted, Step& step) {
  if (!call_.is_stream) {
    Response response = json_response(200, granted_json(granted, waited()));
    add_rate_fields(response, call_.rates, granted.rate);
    if (!keeps_place() && granted.token.fence != 0) {
      response.on_unwritten = [&api = api_, &loop = loop_, token = granted.token] {
        release_soon(api, loop, token);
      };
    }
    return finish(std::move(response));
  }
  if (!std::exchange(is_streaming_, true)) exchange_->begin_stream();
  state_ = State::holding;
  lease_ = std::move(step.lease);
  exchange_->send_event("granted", granted_json(granted, waited()).dump());
  if (state_ != State::holding) return;  // The client was gone.
  on_lost_.emplace(lease_.lost(), [weak = weak_from_this(), &loop = loop_] {
    loop.post([weak] {
      if (const auto visit = weak.lock()) visit->on_lost();
    });
  });
}

void Visit::take_queued(const Queued& queued, bool is_watched) {
  has_place_ = true;
  const Duration left = time_left();
  if (left <= Duration(0)) return expire(queued);
  if (call_.is_stream) show_position(queued);
  if (state_ == State::over) return;
  if (!is_watched || has_news_) return loop_.post([self = shared_from_this()] { self->ask(); });
  ask_after(std::min({left, std::max(queued.next_check, Duration(1ms)),
                      call_.name.empty() ? kRecheck : kRecheckNamed}));
}

void Visit::expire(const Queued& queued) {
  if (keeps_place()) return finish(json_response(202, queued_json(queued, call_.name)));
  state_ = State::leaving;
  const Refused late{.reason = Reason::late,
                     .retry_after = std::max(queued.eta, queued.next_check),
                     .rate = queued.rate};
  leave([self = shared_from_this(), late](const std::exception_ptr& failure) {
    if (self->state_ != State::leaving) return;  // The client was gone.
    failure ? self->take_failure(failure) : self->refuse(late);
  });
}

void Visit::refuse(const Refused& refused) {
  if (!is_streaming_) return finish(refused_response(refused, call_.rates));
  exchange_->send_event("refused", refused_json(refused).dump());
  finish({});
}

void Visit::take_failure(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const StoreError& error) {
    const bool may_pass =
        error.kind() == StoreError::Kind::unavailable || error.kind() == StoreError::Kind::busy;
    if (has_place_ && may_pass && time_left() > Duration(0))
      return ask_after(std::min(kRetry, time_left()));
    finish(failure_response());
  } catch (const LeaseExpiredError&) {
    loop_.post([self = shared_from_this()] {
      self->ask();
    });  // Granted, and gone before it could be renewed.
  } catch (...) {
    finish(failure_response());
  }
}

void Visit::ask_after(Duration delay) {
  timer_.expires_after(delay);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto visit = weak.lock();
    if (!error && visit) visit->ask();
  });
}

void Visit::show_position(const Queued& queued) {
  if (!std::exchange(is_streaming_, true)) exchange_->begin_stream();
  if (std::exchange(shown_position_, queued.position) == queued.position) return;
  exchange_->send_event("queued", queued_json(queued, call_.name).dump());
}

void Visit::on_lost() {
  if (state_ != State::holding) return;
  exchange_->send_event("lost", OrderedJson{{"reason", "ended"}}.dump());
  finish({});
}

void Visit::on_end(Exchange::End end) {
  const auto self = shared_from_this();
  is_draining_ = end == Exchange::End::drained;
  if (is_draining_ && state_ == State::leaving) return;  // It is about to be answered.
  const State before = std::exchange(state_, State::over);
  timer_.cancel();
  on_lost_.reset();
  lease_ = {};
  if (before == State::idle) depart();
  if (before == State::holding && is_draining_) say_draining("lost");
}

void Visit::depart() {
  leave([self = shared_from_this()](const std::exception_ptr& failure) {
    if (!self->is_draining_) return;
    failure && self->is_streaming_ ? self->exchange_->end_stream() : self->say_draining("refused");
  });
}

void Visit::say_draining(const char* event) {
  if (!is_streaming_) return exchange_->answer(stopping_response());
  exchange_->send_event(event, OrderedJson{{"reason", "draining"}}.dump());
  exchange_->end_stream();
}

void Visit::leave(std::function<void(const std::exception_ptr& failure)> then) {
  if (!std::exchange(has_place_, false) || keeps_place()) return then(nullptr);
  const auto failure = std::make_shared<std::exception_ptr>();
  api_.steps.run(
      loop_,
      [&store = api_.store, gate = call_.gate, visitor = call_.visitor, failure] {
        try {
          store.unwatch(gate, visitor);
          store.leave(gate, visitor);
        } catch (const Error&) {
          *failure = std::current_exception();
        }
      },
      [then = std::move(then), failure] { then(*failure); });
}

// Also where the client is gone: then nothing is written.
void Visit::finish(Response response) {
  state_ = State::over;
  timer_.cancel();
  on_lost_.reset();
  lease_ = {};
  if (is_streaming_) {
    exchange_->trace().failure = std::move(response.failure);
    return exchange_->end_stream();
  }
  exchange_->answer(std::move(response));
}

}  // namespace airlock::server
