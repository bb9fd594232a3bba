#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "grpc/budget.hpp"
#include "grpc/call.hpp"

struct nghttp2_session;

namespace airlock::server::grpc {

// The HTTP/2 side of a connection, without its socket: bytes in, calls out, answers in, bytes out. The frames are those of
// nghttp2; what a client may cause is bounded here.
//
// A call with a fault is answered by itself; a client that breaks the protocol, or that floods, gets a GOAWAY.
class Session {
 public:
  static constexpr std::uint32_t kMaxStreams = 100;
  static constexpr std::uint32_t kMaxHeaders = 8'192;    // Bytes of names and values of one call.
  static constexpr std::size_t kMaxBuffered = 1U << 20;  // Of all messages that are not complete.
  static constexpr std::chrono::seconds kRequest{10};    // From the beginning of a call to its end.

  class Observer {
   public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    // It may answer at once.
    virtual void on_call(std::int32_t stream, CallRequest request) = 0;
    // Also after the answer has been sent.
    virtual void on_close(std::int32_t stream) = 0;
  };

  Session(Observer& observer, TimePoint now);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Nothing more may be read once it ends; what there is to write still is.
  void read(std::string_view bytes, TimePoint now);

  // What is sent to a stream that is closed is lost.
  void send(std::int32_t id, std::string_view message);
  void finish(std::int32_t id, Status status, std::string_view text = {});

  // Appends about `size` bytes at most, if there are any.
  void write(std::string& out, std::size_t size);

  void shut_down();          // No new calls; those that run are answered.
  void tick(TimePoint now);  // Ends calls that take too long to arrive or to be answered.

  [[nodiscard]] bool is_idle() const noexcept { return streams_.empty(); }
  [[nodiscard]] bool wants_to_read() const noexcept;
  [[nodiscard]] bool is_over() const noexcept;  // Nothing to read and nothing to write.

 private:
  struct Stream;
  struct Callbacks;
  struct Frame {
    std::uint8_t type;
    bool is_end;  // Of the stream.
    bool is_ack;
    std::int32_t stream;
    std::size_t size;
  };

  [[nodiscard]] Stream* find(std::int32_t id);
  void begin_stream(std::int32_t id);
  void on_header(std::int32_t id, std::string_view name, std::string_view value);
  void on_data(std::int32_t id, std::string_view bytes);
  void on_frame(const Frame& frame);
  void check_headers(std::int32_t id);
  void on_closed(std::int32_t id);
  void complete(std::int32_t id);
  void fail(std::int32_t id, Status status, std::string_view text);
  void on_answered(std::int32_t id);
  void refuse(std::int32_t id, const char* http_status);
  void spend(std::int64_t points);
  void stop(std::uint32_t error);
  void begin_answer(std::int32_t id, Stream& stream);
  void submit_trailers(std::int32_t id, const Stream& stream);

  Observer& observer_;
  Budget budget_;
  TimePoint now_;
  std::map<std::int32_t, Stream> streams_;
  std::size_t buffered_ = 0;
  bool is_stopped_ = false;
  nghttp2_session* session_ = nullptr;
};

}  // namespace airlock::server::grpc
