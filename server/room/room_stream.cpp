#include "room/room_stream.hpp"

#include <algorithm>
#include <utility>

#include "airlock/error.hpp"
#include "http/loop.hpp"
#include "operations/address_caps.hpp"
#include "room/stream_rounds.hpp"

namespace airlock::server {

void RoomStream::start(Api& api, const ExchangePtr& exchange, RoomCall call) {
  take_waiting_place(*exchange);
  const auto stream = std::make_shared<RoomStream>(api, exchange, std::move(call));
  exchange->on_end([stream](Exchange::End end) { stream->on_end(end); });
  exchange->begin_stream();
  api.rooms.rounds(api, stream->loop_).add(stream);
  stream->ask();
}

RoomStream::RoomStream(Api& api, const ExchangePtr& exchange, RoomCall call)
    : api_(api), exchange_(exchange), loop_(exchange->loop()), call_(std::move(call)) {}

bool RoomStream::is_due(Clock::time_point now) {
  if (state_ != State::idle) return false;
  if (call_.take_rules(loop_.config_pointer()) || now >= next_ask_) {
    ask();
    return false;
  }
  return now >= next_push_;
}

void RoomStream::ask() {
  if (state_ == State::asking) has_news_ = true;
  if (state_ != State::idle) return;
  state_ = State::asking;
  has_news_ = false;
  call_.take_rules(loop_.config_pointer());
  const auto self = shared_from_this();
  const auto step = std::make_shared<Step>();
  const auto changed = [weak = weak_from_this(), &loop = loop_] {
    loop.post([weak] {
      if (const auto stream = weak.lock()) stream->ask();
    });
  };
  api_.steps.run(
      loop_, [self, step, changed] { self->ask_store(*step, changed); },
      [self, step] { self->take_in(*step); });
}

// Not on the loop where the store is far.
void RoomStream::ask_store(Step& step, const std::function<void()>& changed) {
  try {
    step.standing =
        ask_line(api_.store, call_,
                 {.hold = Hold::bound, .claim_window = kClaimWindow, .session = kToArrive});
    if (step.standing->has_place())
      step.is_watched = api_.store.watch(call_.gate, *call_.ticket.visitor, changed);
  } catch (const Error&) {
    step.standing.reset();
  }
}

void RoomStream::take_in(const Step& step) {
  if (state_ == State::over) return step_aside();  // The page was closed meanwhile.
  state_ = State::idle;
  const Standing standing = step.standing.value_or(Standing{.state = Standing::State::outage});
  show(standing);
  if (state_ == State::over) return;  // The client was gone.
  if (standing.state == Standing::State::admitted || standing.state == Standing::State::ended)
    return finish();
  const bool has_place = standing.has_place();
  if (has_place && (!step.is_watched || has_news_))
    return loop_.post([self = shared_from_this()] { self->ask(); });
  next_ask_ = Clock::now() + (has_place ? std::max<Duration>(standing.next_check, kMinInterval)
                                        : retry_after(standing));
}

// Those who find the line full are many.
Duration RoomStream::retry_after(const Standing& standing) const {
  return standing.state == Standing::State::full ? call_.room->refresh : Duration(kRetry);
}

void RoomStream::on_view(const LineView& view, Clock::time_point now) {
  if (state_ != State::idle || now < next_push_) return;
  const auto standing = seen_in(view, call_);
  // It was handed over, or purged, or another page of the visitor has the watch, or was closed.
  if (!standing || !view.spots.at(*call_.ticket.visitor).present) return ask();
  interval_ = show(*standing) ? kMinInterval : std::min(2 * interval_, kMaxInterval);
  const Duration eta = standing->wait ? standing->wait->low : Duration(0);
  next_push_ = now + std::max<Clock::duration>(interval_, eta / kPushes);
}

// What the waiting text says changes by minutes.
bool RoomStream::show(const Standing& standing) {
  const auto minutes = [](Duration wait) { return wait / std::chrono::minutes(1); };
  const WaitRange wait = standing.wait.value_or(WaitRange{});
  constexpr int kHundred = 100;
  const Seen seen{.state = standing.state,
                  .position = standing.position,
                  .percent = static_cast<int>(standing.progress * kHundred),
                  .has_wait = standing.wait.has_value(),
                  .low = minutes(wait.low),
                  .high = minutes(wait.high)};
  if (seen == seen_) return false;
  seen_ = seen;
  exchange_->send_event("standing", standing_json(call_, standing).dump());
  return true;
}

void RoomStream::on_end(Exchange::End end) {
  const State before = std::exchange(state_, State::over);
  if (before == State::over) return;
  if (before == State::idle) step_aside();
  if (end == Exchange::End::drained) exchange_->end_stream();
}

// Another page of the visitor asks again when it sees this.
void RoomStream::step_aside() {
  api_.steps.run(loop_, [self = shared_from_this()] {
    const Store& store = self->api_.store;
    try {
      store.unwatch(self->call_.gate, *self->call_.ticket.visitor);
      store.mark_absent(self->call_.gate, *self->call_.ticket.visitor);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a hand-over is lost after its window
    }
  });
}

void RoomStream::finish() {
  state_ = State::over;
  exchange_->end_stream();
}

}  // namespace airlock::server
