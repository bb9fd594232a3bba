#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "grpc/call.hpp"
#include "grpc/session.hpp"
#include "http/exchange.hpp"
#include "http/loop_connection.hpp"
#include "http/transport.hpp"

namespace airlock::server::grpc {

// A client's connection that speaks HTTP/2 from its first byte. Belongs to one loop, which keeps no owner of it: it lives as
// long as something is read, written or answered.
class Connection final : public LoopConnection,
                         public Session::Observer,
                         public std::enable_shared_from_this<Connection> {
 public:
  static void start(Loop& loop, Transport transport, Peer peer, const Handler& handler);

  Connection(Loop& loop, Transport transport, Peer peer, const Handler& handler);
  ~Connection() override;

  void tick(TimePoint now) override;
  void drain() override;
  [[nodiscard]] std::shared_ptr<LoopConnection> shared() override { return shared_from_this(); }

  void on_call(std::int32_t stream, CallRequest request) override;
  void on_close(std::int32_t stream) override;

 private:
  class StreamCall;

  void await_input();
  void on_input();
  void await_output();
  void flush();
  void close();

  static constexpr std::size_t kMaxUnsent = 65'536;
  static constexpr std::size_t kMaxRunning = 200;  // Calls, also of streams that are closed.
  static constexpr std::chrono::seconds kFirstBytes{10};
  static constexpr std::chrono::seconds kIdle{300};
  static constexpr std::chrono::seconds kWrite{30};  // For the client to take something.

  Loop& loop_;
  Transport transport_;
  const Handler& handler_;
  const Peer peer_;
  Session session_;
  TimePoint deadline_;
  bool is_input_awaited_ = false;
  bool is_output_awaited_ = false;
  bool is_reading_ = false;
  bool is_draining_ = false;
  bool is_closed_ = false;
  std::size_t running_ = 0;
  std::string unsent_;
  std::map<std::int32_t, std::function<void()>> drained_;  // By stream.
};

}  // namespace airlock::server::grpc
