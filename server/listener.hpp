#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "grpc/call.hpp"
#include "http/exchange.hpp"
#include "http/loop.hpp"
#include "options.hpp"

namespace airlock::server {

// What answers at an endpoint, by what it speaks.
struct Handlers {
  Handler http;
  grpc::Handler grpc;
};

// Accepts at one endpoint, on the first loop, and gives each connection to the loop that `next_loop` names. A Unix socket has
// the mode of its endpoint and is removed at the end; one that a server left behind is replaced, one that is in use is not. A
// socket that was passed to the server is used as it is.
class Listener {
 public:
  // StoreError if nothing can be accepted there.
  Listener(Loop& loop, Endpoint endpoint, std::function<Loop&()> next_loop,
           const Handlers& handlers);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  void start() { accept(); }
  void close();

  [[nodiscard]] std::string text() const {
    return endpoint_text(endpoint_);
  }  // With the port that was chosen.

 private:
  using Protocol = boost::asio::generic::stream_protocol;
  using Acceptor = boost::asio::basic_socket_acceptor<Protocol>;

  [[noreturn]] void fail(const char* what, int error) const;
  void open_tcp();
  void open_unix();
  void adopt();
  void accept();
  void refuse(Protocol::socket& socket, std::string_view answer) const;
  void take(Loop& to, Protocol::socket socket);

  Loop& loop_;
  Endpoint endpoint_;
  const std::function<Loop&()> next_loop_;
  const Handlers& handlers_;
  Acceptor acceptor_;
  boost::asio::steady_timer pause_;
  bool has_path_ = false;
};

}  // namespace airlock::server
