#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exchange.hpp"
#include "loop_connection.hpp"
#include "parser.hpp"
#include "transport.hpp"

namespace airlock::server {

// A client's connection: one request after the other, what is pipelined waits. Belongs to one loop, which keeps no owner
// of it: it lives as long as something is read, written or answered.
class Connection final : public Exchange,
                         public LoopConnection,
                         public std::enable_shared_from_this<Connection> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static void start(Loop& loop, Transport transport, Peer peer, const Handler& handler);

  Connection(Loop& loop, Transport transport, Peer peer, const Handler& handler);
  ~Connection() override;

  void tick(TimePoint now) override;
  void drain() override;
  [[nodiscard]] std::shared_ptr<LoopConnection> shared() override { return shared_from_this(); }

  [[nodiscard]] const Request& request() const override { return reader_->request(); }
  [[nodiscard]] const Peer& peer() const override { return peer_; }
  void set_caller(std::string principal, GrantsPtr grants) override;
  [[nodiscard]] Loop& loop() override { return loop_; }
  void answer(Response response) override;
  void on_end(std::function<void(End)> ended) override;
  void begin_stream() override;
  void send_event(std::string_view name, std::string_view data) override;
  void end_stream() override;
  [[nodiscard]] std::size_t unsent() const override { return unsent_.size(); }

 private:
  // reading: a request, or nothing. busy: a handler has one. closing: what is written is the last. lingering: the client
  // is given time to read it.
  enum class State : std::uint8_t { reading, busy, streaming, closing, lingering, closed };

  void await_input();
  void on_input();
  [[nodiscard]] bool wants_input() const noexcept;
  void on_eof();
  void limit_waiting();
  void process();
  [[nodiscard]] bool has_next_request() const noexcept;
  void read_request();
  void fail(int status, const char* rule);
  void dispatch();
  void flush();
  void await_output();
  void on_flushed();
  void linger();
  void tell_end(End end);
  void end_head();
  void note(int status);
  void close();
  void set_deadline(std::chrono::seconds from_now);

  static constexpr std::size_t kMaxWaiting = 8'192;  // Bytes pipelined behind a request.
  static constexpr std::size_t kMaxUnsent = 65'536;
  static constexpr std::chrono::seconds kIdle{75};
  static constexpr std::chrono::seconds kRequest{10};  // From its first byte to its last.
  static constexpr std::chrono::seconds kWrite{30};    // For the client to take something.
  static constexpr std::chrono::seconds kLinger{2};
  static constexpr std::chrono::seconds kHeartbeat{15};

  Loop& loop_;
  Transport transport_;
  const Handler& handler_;
  Peer peer_;
  State state_ = State::reading;
  bool is_input_awaited_ = false;
  bool is_output_awaited_ = false;
  bool is_processing_ = false;
  bool has_continued_ = false;
  TimePoint deadline_;
  std::string unread_;
  std::size_t left_unread_ = 0;  // What the reader could not use.
  std::string unsent_;
  std::unique_ptr<RequestReader> reader_;
  std::function<void(End)> ended_;
  std::vector<std::function<void()>> unwritten_;  // Of the answers in unsent_.
};

}  // namespace airlock::server
