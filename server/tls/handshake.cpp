#include "tls/handshake.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <string>
#include <utility>

#include "http/exchange.hpp"
#include "http/loop.hpp"

namespace airlock::server {
namespace {

using boost::system::error_code;
namespace asio = boost::asio;

}  // namespace

void TlsHandshake::start(Loop& loop, Socket socket, std::unique_ptr<TlsSession> session,
                         Done done) {
  const auto handshake =
      std::make_shared<TlsHandshake>(loop, std::move(socket), std::move(session), std::move(done));
  handshake->watch();
  handshake->proceed();
}

TlsHandshake::TlsHandshake(Loop& loop, Socket socket, std::unique_ptr<TlsSession> session,
                           Done done)
    : loop_(loop),
      socket_(std::move(socket)),
      session_(std::move(session)),
      done_(std::move(done)),
      deadline_(std::chrono::steady_clock::now() + kDeadline),
      timer_(loop.context()) {
  ++loop_.shared().connections;
  error_code ignored;
  socket_.non_blocking(true, ignored);
}

TlsHandshake::~TlsHandshake() { --loop_.shared().connections; }

void TlsHandshake::proceed() {
  error_code error;
  session_->handshake(error);
  if (!error) {
    done_(std::move(socket_), std::exchange(session_, nullptr));
    timer_.cancel();
  } else if (error == asio::error::would_block) {
    socket_.async_wait(session_->wants_write() ? Socket::wait_write : Socket::wait_read,
                       [self = shared_from_this()](const error_code& failed) {
                         if (!failed && self->socket_.is_open()) self->proceed();
                       });
  } else {
    fail();
  }
}

void TlsHandshake::watch() {
  timer_.expires_after(kTick);
  timer_.async_wait([weak = weak_from_this()](const error_code& error) {
    const auto self = weak.lock();
    if (error || self == nullptr || !self->socket_.is_open()) return;
    const bool is_late = std::chrono::steady_clock::now() >= self->deadline_;
    is_late || self->loop_.shared().is_draining ? self->end() : self->watch();
  });
}

// Closing at once would reset the connection where input is left, and the alert with it.
void TlsHandshake::fail() {
  if (session_->met_plain_http()) answer_plain_http();
  session_.reset();
  deadline_ = std::chrono::steady_clock::now() + kLinger;
  error_code error;
  socket_.shutdown(Socket::shutdown_send, error);
  error ? end() : linger();
}

void TlsHandshake::linger() {
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& failed) {
    if (failed || !self->socket_.is_open()) return;
    error_code error;
    self->socket_.read_some(asio::buffer(self->loop_.scratch()), error);
    error&& error != asio::error::would_block ? self->end() : self->linger();
  });
}

void TlsHandshake::end() {
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

void TlsHandshake::answer_plain_http() {
  error_code ignored;
  std::string answer;
  append_response(answer, problem(400, "this port speaks HTTPS, not HTTP"),
                  {.date = loop_.date(), .keeps_alive = false});
  socket_.write_some(asio::buffer(answer), ignored);
}

}  // namespace airlock::server
