#include "grpc/connection.hpp"

#include <boost/asio/error.hpp>
#include <utility>

#include "http/loop.hpp"

namespace airlock::server::grpc {
namespace {

using boost::system::error_code;
namespace asio = boost::asio;

using Clock = std::chrono::steady_clock;

bool is_later(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

class Connection::StreamCall final : public Call {
 public:
  StreamCall(std::shared_ptr<Connection> connection, std::int32_t stream, CallRequest request)
      : connection_(std::move(connection)), stream_(stream), request_(std::move(request)) {
    ++connection_->running_;
  }
  ~StreamCall() override { --connection_->running_; }

  [[nodiscard]] const CallRequest& request() const override { return request_; }
  [[nodiscard]] const Peer& peer() const override { return connection_->peer_; }
  [[nodiscard]] Loop& loop() override { return connection_->loop_; }

  void send(std::string_view message) override {
    connection_->session_.send(stream_, message);
    connection_->flush();
  }
  void finish(Status status, std::string_view text) override {
    connection_->drained_.erase(stream_);
    connection_->session_.finish(stream_, status, text);
    connection_->flush();
  }
  void on_drain(std::function<void()> drained) override {
    connection_->drained_[stream_] = std::move(drained);
  }

 private:
  const std::shared_ptr<Connection> connection_;
  const std::int32_t stream_;
  const CallRequest request_;
};

void Connection::start(Loop& loop, Transport transport, Peer peer, const Handler& handler) {
  const auto connection =
      std::make_shared<Connection>(loop, std::move(transport), std::move(peer), handler);
  loop.add(*connection);
  connection->flush();
  connection->await_input();
}

Connection::Connection(Loop& loop, Transport transport, Peer peer, const Handler& handler)
    : loop_(loop),
      transport_(std::move(transport)),
      handler_(handler),
      peer_(std::move(peer)),
      session_(*this, Clock::now()),
      deadline_(Clock::now() + kFirstBytes) {}

Connection::~Connection() { loop_.remove(*this); }

void Connection::await_input() {
  if (is_input_awaited_ || is_closed_ || unsent_.size() >= kMaxUnsent || !session_.wants_to_read())
    return;
  is_input_awaited_ = true;
  transport_.await_input([self = shared_from_this()](const error_code& error) {
    self->is_input_awaited_ = false;
    if (error || self->is_closed_) return;
    self->on_input();
    self->await_input();
  });
}

void Connection::on_input() {
  error_code error;
  auto& scratch = loop_.scratch();
  const std::size_t size = transport_.read_some(scratch, error);
  if (is_later(error)) return;
  if (error) return close();
  const TimePoint now = Clock::now();
  if (!is_output_awaited_) deadline_ = now + kIdle;
  is_reading_ = true;
  session_.read({scratch.data(), size}, now);
  is_reading_ = false;
  flush();
}

void Connection::on_call(std::int32_t stream, CallRequest request) {
  const auto call = std::make_shared<StreamCall>(shared_from_this(), stream, std::move(request));
  if (running_ > kMaxRunning)
    return call->finish(Status::resource_exhausted,
                        "too many calls of this connection are running");
  handler_(call);
}

void Connection::on_close(std::int32_t stream) {
  drained_.erase(stream);
  if (session_.is_idle()) deadline_ = Clock::now() + kIdle;
}

void Connection::flush() {
  if (is_reading_ || is_output_awaited_ || is_closed_) return;
  for (;;) {
    session_.write(unsent_, kMaxUnsent);
    if (unsent_.empty()) break;
    error_code error;
    const std::size_t size = transport_.write_some(unsent_, error);
    if (is_later(error)) return await_output();
    if (error) return close();
    unsent_.erase(0, size);
  }
  if (session_.is_over()) return close();
  await_input();
}

void Connection::await_output() {
  is_output_awaited_ = true;
  deadline_ = Clock::now() + kWrite;
  transport_.await_output([self = shared_from_this()](const error_code& error) {
    self->is_output_awaited_ = false;
    if (error) return;
    self->deadline_ = Clock::now() + kIdle;
    self->flush();
  });
}

void Connection::tick(TimePoint now) {
  session_.tick(now);
  flush();
  if (is_closed_ || now < deadline_) return;
  if (is_output_awaited_) return close();
  if (session_.is_idle()) {
    session_.shut_down();
    flush();
  }
}

void Connection::drain() {
  if (!std::exchange(is_draining_, true)) {
    session_.shut_down();
    for (const auto& [stream, drained] : std::exchange(drained_, {})) drained();
  }
  flush();
}

void Connection::close() {
  if (std::exchange(is_closed_, true)) return;
  loop_.remove(*this);
  drained_.clear();
  transport_.close();
}

}  // namespace airlock::server::grpc
