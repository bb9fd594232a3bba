#include "connection.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>

#include "loop.hpp"
#include "operations/come_back.hpp"

namespace airlock::server {
namespace {

using boost::system::error_code;
namespace asio = boost::asio;

bool is_later(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

void Connection::start(Loop& loop, Transport transport, Peer peer, const Handler& handler) {
  const auto connection =
      std::make_shared<Connection>(loop, std::move(transport), std::move(peer), handler);
  loop.add(*connection);
  connection->await_input();
}

Connection::Connection(Loop& loop, Transport transport, Peer peer, const Handler& handler)
    : loop_(loop), transport_(std::move(transport)), handler_(handler), peer_(std::move(peer)) {
  set_deadline(kIdle);
}

Connection::~Connection() { loop_.remove(*this); }

void Connection::set_deadline(std::chrono::seconds from_now) {
  deadline_ = std::chrono::steady_clock::now() + from_now;
}

bool Connection::wants_input() const noexcept {
  switch (state_) {
    case State::reading:
      return unsent_.size() < kMaxUnsent;
    case State::busy:
    case State::streaming:
      return ended_ != nullptr;  // To see the end.
    case State::lingering:
      return true;
    case State::closing:
    case State::closed:
      return false;
  }
  return false;
}

void Connection::await_input() {
  if (is_input_awaited_ || !wants_input()) return;
  is_input_awaited_ = true;
  transport_.await_input([self = shared_from_this()](const error_code& error) {
    self->is_input_awaited_ = false;
    if (error || !self->wants_input()) return;
    self->on_input();
    self->await_input();
  });
}

void Connection::on_input() {
  error_code error;
  auto& scratch = loop_.scratch();
  const std::size_t size = transport_.read_some(scratch, error);
  if (is_later(error)) return;
  if (error) return on_eof();
  if (state_ == State::lingering || state_ == State::streaming)
    return;  // Nothing more is answered.
  unread_.append(scratch.data(), size);
  if (state_ == State::reading) return process();
  limit_waiting();
}

void Connection::limit_waiting() {
  if (ended_ == nullptr || unread_.size() <= kMaxWaiting) return;
  tell_end(End::gone);
  fail(400, "at most 8 kB may follow a request that waits");
  flush();
}

void Connection::on_eof() {
  if (state_ == State::reading && !unsent_.empty()) {
    state_ = State::closing;
    return;
  }
  tell_end(End::gone);
  close();
}

void Connection::process() {
  if (is_processing_) return;
  bool is_full = false;
  do {
    is_processing_ = true;
    while (has_next_request()) read_request();
    is_processing_ = false;
    is_full = unsent_.size() >= kMaxUnsent;
    flush();
  } while (is_full && unsent_.empty() && state_ == State::reading);
}

// Also where only a part of one is there, until that is read.
bool Connection::has_next_request() const noexcept {
  return state_ == State::reading && !unread_.empty() && unsent_.size() < kMaxUnsent &&
         (reader_ == nullptr || unread_.size() != left_unread_);
}

// Of a request that is read, its memory is kept until it is answered.
void Connection::read_request() {
  if (reader_ == nullptr) {
    reader_ = std::make_unique<RequestReader>();
    has_continued_ = false;
    trace_ = {};
    set_deadline(kRequest);
  }
  std::string_view bytes = unread_;
  auto state = reader_->read(bytes);
  if (state == RequestReader::State::has_head) state = reader_->read(bytes);
  unread_.erase(0, unread_.size() - bytes.size());
  left_unread_ = unread_.size();
  switch (state) {
    case RequestReader::State::failed:
      return fail(reader_->status(), reader_->rule());
    case RequestReader::State::complete:
      return dispatch();
    default:
      if (reader_->has_head() && reader_->request().expects_continue && !has_continued_ &&
          unread_.empty()) {
        has_continued_ = true;
        unsent_ += "HTTP/1.1 100 Continue\r\n\r\n";
      }
  }
}

void Connection::fail(int status, const char* rule) {
  if (state_ == State::closed) return;
  unread_.clear();
  const std::size_t unsent = unsent_.size();
  append_response(unsent_, problem(status, rule), {.date = loop_.date(), .keeps_alive = false});
  trace_.bytes = unsent_.size() - unsent;
  note(status);
  state_ = State::closing;
  set_deadline(kWrite);
}

void Connection::dispatch() {
  state_ = State::busy;
  handler_(shared_from_this());
  if (state_ == State::busy) await_input();
}

void Connection::set_caller(std::string principal, GrantsPtr grants) {
  peer_.principal = std::move(principal);
  peer_.grants = std::move(grants);
}

void Connection::answer(Response response) {
  ended_ = nullptr;
  if (state_ != State::busy) {
    if (response.on_unwritten) response.on_unwritten();
    return;
  }
  const bool keeps_alive = reader_->keeps_alive() && !loop_.shared().is_draining;
  const std::size_t unsent = unsent_.size();
  append_response(
      unsent_, response,
      {.date = loop_.date(), .keeps_alive = keeps_alive, .has_body = !reader_->is_head()});
  if (response.on_unwritten) unwritten_.push_back(std::move(response.on_unwritten));
  trace_.bytes = unsent_.size() - unsent;
  trace_.failure = std::move(response.failure);
  note(response.status);
  reader_.reset();
  state_ = keeps_alive ? State::reading : State::closing;
  set_deadline(kWrite);
  if (!is_processing_) process();
}

void Connection::on_end(std::function<void(End)> ended) {
  ended_ = std::move(ended);
  if (state_ == State::busy) trace_.counted = Counted(loop_.shared().operations.waiting_calls);
  if (unread_.size() > kMaxWaiting)
    loop_.post([self = shared_from_this()] { self->limit_waiting(); });
  await_input();
}

void Connection::begin_stream() {
  if (state_ != State::busy) return;
  unsent_.append("HTTP/1.1 200 OK\r\nDate: ").append(loop_.date());
  unsent_ +=
      "\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: "
      "no\r\nConnection: close\r\n\r\n";
  state_ = State::streaming;
  trace_.is_stream = true;
  trace_.counted = Counted(loop_.shared().operations.streams);
  set_deadline(kHeartbeat);
  if (reader_->is_head()) return loop_.post([self = shared_from_this()] { self->end_head(); });
  if (!is_processing_) flush();
}

// A stream without its body.
void Connection::end_head() {
  if (state_ != State::streaming) return;
  tell_end(End::gone);
  end_stream();
}

void Connection::send_event(std::string_view name, std::string_view data) {
  if (state_ != State::streaming || reader_->is_head()) return;
  const std::size_t unsent = unsent_.size();
  unsent_.append("event: ").append(name).append("\ndata: ").append(data).append("\n\n");
  trace_.bytes += unsent_.size() - unsent;
  if (!is_processing_) flush();
}

void Connection::end_stream() {
  if (state_ != State::streaming) return;
  ended_ = nullptr;
  note(200);
  state_ = State::closing;
  set_deadline(kWrite);
  if (!is_processing_) flush();
}

void Connection::flush() {
  while (!unsent_.empty() && !is_output_awaited_ && state_ != State::closed) {
    error_code error;
    const std::size_t size = transport_.write_some(unsent_, error);
    if (is_later(error)) return await_output();
    if (error) {
      tell_end(End::gone);
      return close();
    }
    unsent_.erase(0, size);
  }
  if (unsent_.empty()) on_flushed();
}

void Connection::await_output() {
  is_output_awaited_ = true;
  transport_.await_output([self = shared_from_this()](const error_code& error) {
    self->is_output_awaited_ = false;
    if (error) return;
    self->flush();
    if (self->state_ == State::reading) self->process();
  });
}

void Connection::on_flushed() {
  unwritten_.clear();
  if (state_ == State::closing) return linger();
  if (state_ == State::reading) {
    if (reader_ == nullptr) set_deadline(kIdle);
    if (loop_.shared().is_draining && reader_ == nullptr) return drain();
    if (unread_.empty()) unread_.shrink_to_fit();
    unsent_.shrink_to_fit();
  }
  await_input();
}

// Closing at once would reset the connection where input is left, and the client could lose the answer.
void Connection::linger() {
  error_code error;
  transport_.end_output(error);
  if (error) return close();
  state_ = State::lingering;
  set_deadline(kLinger);
  await_input();
}

void Connection::tell_end(End end) {
  if (const auto ended = std::exchange(ended_, nullptr)) ended(end);
}

void Connection::note(int status) {
  note_request(loop_, trace_, peer_, reader_->has_head() ? &reader_->request() : nullptr, status);
  trace_.counted = {};
  trace_.tickets = {};
}

void Connection::close() {
  if (state_ == State::closed) return;
  if (state_ == State::busy) note(kClientGone);
  if (state_ == State::streaming) note(200);
  state_ = State::closed;
  ended_ = nullptr;
  loop_.remove(*this);
  transport_.close();
  for (const auto& undo : std::exchange(unwritten_, {})) undo();
}

void Connection::tick(TimePoint now) {
  if (now < deadline_) return;
  if (!unsent_.empty() || state_ == State::lingering || state_ == State::closing) {
    tell_end(End::gone);
    return close();
  }
  if (state_ == State::streaming) {
    unsent_ += ":\n\n";
    set_deadline(unsent_.size() > kMaxUnsent ? std::chrono::seconds(0) : kHeartbeat);
    return flush();
  }
  if (state_ != State::reading) return;
  if (reader_ == nullptr) return close();
  fail(408, "a request has to arrive within 10 s");
  flush();
}

void Connection::drain() {
  const auto is_idle = [this] {
    return state_ == State::reading && reader_ == nullptr && unsent_.empty();
  };
  if (is_idle()) on_input();  // What has come already is answered.
  if (is_idle()) return close();
  if (state_ == State::streaming && ended_ != nullptr)
    unsent_ += "retry: " + std::to_string(come_back_after().count()) + "\n\n";
  tell_end(End::drained);
}

}  // namespace airlock::server
