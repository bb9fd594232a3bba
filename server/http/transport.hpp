#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "tls/session.hpp"

namespace airlock::server {

// The bytes of a connection, in the clear or inside TLS. Nothing blocks.
class Transport {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using ErrorCode = boost::system::error_code;

  // NOLINTNEXTLINE(google-explicit-constructor): a socket is one
  Transport(Socket socket, std::unique_ptr<TlsSession> tls = nullptr)
      : socket_(std::move(socket)), tls_(std::move(tls)) {
    ErrorCode ignored;
    socket_.non_blocking(true, ignored);
  }

  // What has to wait is would_block or try_again.
  [[nodiscard]] std::size_t read_some(std::span<char> into, ErrorCode& error) {
    if (!tls_) return socket_.read_some(boost::asio::buffer(into.data(), into.size()), error);
    const std::size_t size = tls_->read_some(into.data(), into.size(), error);
    input_wait_ = tls_->wants_write() ? Socket::wait_write : Socket::wait_read;
    return size;
  }
  [[nodiscard]] std::size_t write_some(std::string_view bytes, ErrorCode& error) {
    if (!tls_) return socket_.write_some(boost::asio::buffer(bytes), error);
    const std::size_t size = tls_->write_some(bytes.data(), bytes.size(), error);
    output_wait_ = tls_->wants_write() ? Socket::wait_write : Socket::wait_read;
    return size;
  }

  // Calls `handler` when what had to wait may be tried again.
  template <typename Handler>
  void await_input(Handler handler) {
    socket_.async_wait(input_wait_, std::move(handler));
  }
  template <typename Handler>
  void await_output(Handler handler) {
    socket_.async_wait(output_wait_, std::move(handler));
  }

  void end_output(ErrorCode& error) {
    if (tls_) tls_->end_output();
    socket_.shutdown(Socket::shutdown_send, error);
  }
  void close() {
    if (tls_) tls_->end_output();
    ErrorCode ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
  std::unique_ptr<TlsSession> tls_;  // None: in the clear.
  // TLS may have to write to read, and to read to write.
  Socket::wait_type input_wait_ = Socket::wait_read;
  Socket::wait_type output_wait_ = Socket::wait_write;
};

}  // namespace airlock::server
