#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message.hpp"
#include "operations/request_trace.hpp"
#include "rights/role.hpp"

namespace airlock::server {

class Loop;

// The other end of a connection, and what it may do by the request that is being answered.
struct Peer {
  std::string principal = {};  // Whose visitors a visitor's name belongs to.
  std::string label = {};      // What operators see unless the request has a label.
  GrantsPtr grants = {};       // None: nothing.

  std::optional<unsigned> user = {};  // Of a Unix socket.
  std::vector<unsigned> groups = {};
  std::vector<std::string> certificate_names = {};       // Of a verified certificate.
  bool is_loopback = false;                              // TCP from this machine.
  std::optional<boost::asio::ip::address> address = {};  // None: a Unix socket.

  std::shared_ptr<const void> counted =
      {};  // Counts the connection for its address (address_caps.hpp).
};

// One request and its answer. Handlers get it on the loop of its connection and use it there alone. Each is answered once,
// by answer(), or by begin_stream() and end_stream().
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  [[nodiscard]] virtual const Request& request() const = 0;
  [[nodiscard]] virtual const Peer& peer() const = 0;
  virtual void set_caller(std::string principal, GrantsPtr grants) = 0;
  [[nodiscard]] virtual Loop& loop() = 0;

  virtual void answer(Response response) = 0;

  // From here on the connection is watched while the answer is awaited: `gone` is called once when the client goes away, or
  // when the server ends and wants it `drained`. After that, a client that is gone may still be answered, in vain.
  enum class End { gone, drained };
  virtual void on_end(std::function<void(End)> ended) = 0;

  // Server-sent events. The stream ends with the connection.
  virtual void begin_stream() = 0;
  virtual void send_event(std::string_view name, std::string_view data) = 0;
  virtual void end_stream() = 0;
  [[nodiscard]] virtual std::size_t unsent() const = 0;  // Bytes that the client has not taken yet.

  [[nodiscard]] RequestTrace& trace() noexcept { return trace_; }

 protected:
  RequestTrace trace_ = {};
};

using ExchangePtr = std::shared_ptr<Exchange>;
using Handler = std::function<void(const ExchangePtr&)>;

// {"type","title","status","detail"} as RFC 9457 has it; `field` where one is wrong.
[[nodiscard]] Response problem(int status, std::string_view detail, std::string_view field = {});

}  // namespace airlock::server
