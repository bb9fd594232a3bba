#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "tls/session.hpp"

namespace airlock::server {

class Loop;

// Brings a connection through its handshake within 10 s, and hands it on. Counts as a connection meanwhile. A handshake that
// fails ends the connection.
class TlsHandshake : public std::enable_shared_from_this<TlsHandshake> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Done = std::function<void(Socket socket, std::unique_ptr<TlsSession> session)>;

  // On the loop, which calls `done`.
  static void start(Loop& loop, Socket socket, std::unique_ptr<TlsSession> session, Done done);

  TlsHandshake(Loop& loop, Socket socket, std::unique_ptr<TlsSession> session, Done done);
  TlsHandshake(const TlsHandshake&) = delete;
  TlsHandshake& operator=(const TlsHandshake&) = delete;
  ~TlsHandshake();

 private:
  void proceed();
  void watch();
  void fail();
  void linger();
  void end();
  void answer_plain_http();

  static constexpr std::chrono::seconds kDeadline{10};
  static constexpr std::chrono::seconds kLinger{2};       // For the client to read why it failed.
  static constexpr std::chrono::milliseconds kTick{250};  // To see that the server stops.

  Loop& loop_;
  Socket socket_;
  std::unique_ptr<TlsSession> session_;  // None: handed on, or failed.
  const Done done_;
  std::chrono::steady_clock::time_point deadline_;
  boost::asio::steady_timer timer_;
};

}  // namespace airlock::server
