#include "grpc/session.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "grpc/message.hpp"

namespace airlock::server::grpc {
namespace {

constexpr std::size_t kMaxAcks = 100;  // Answers to pings and settings that wait to be written.
constexpr std::size_t kMaxSettings = 16;

// Points of the budget.
constexpr std::int64_t kControlFrame = 1;
constexpr std::int64_t kSettingsFrame = 20;
constexpr std::int64_t kTakenBack = 10;  // A call that was reset soon after it came, or refused.
constexpr auto kSoon = std::chrono::milliseconds(10);

constexpr std::string_view kContentType = "application/grpc";

nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    // nghttp2 takes pointers to what it does not change.
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

struct Session::Stream {
  TimePoint begun;
  CallRequest request = {};
  std::size_t header_bytes = 0;
  bool is_post = false;
  bool is_grpc = false;
  bool has_bad_timeout = false;
  bool is_complete = false;  // The request is.
  std::string in = {};

  bool has_answer = false;  // Its head is submitted.
  bool is_finished = false;
  bool waits_for_data = false;
  Status status = Status::ok;
  std::string status_text = {};
  std::string out = {};  // Messages that are not framed yet.
};

struct Session::Callbacks {
  static Session& of(void* data) { return *static_cast<Session*>(data); }

  static int on_begin_headers(nghttp2_session* /*session*/, const nghttp2_frame* frame,
                              void* data) {
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
      of(data).begin_stream(frame->hd.stream_id);
    return 0;
  }

  // NOLINTNEXTLINE(readability-function-size): as nghttp2 calls it
  static int on_header(nghttp2_session* /*session*/, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                       std::size_t value_size, std::uint8_t /*flags*/, void* data) {
    of(data).on_header(frame->hd.stream_id, text_of(name, name_size), text_of(value, value_size));
    return 0;
  }

  static int on_data(nghttp2_session* /*session*/, std::uint8_t /*flags*/, std::int32_t id,
                     const std::uint8_t* bytes, std::size_t size, void* data) {
    of(data).on_data(id, text_of(bytes, size));
    return 0;
  }

  static int on_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* data) {
    const nghttp2_frame_hd& head = frame->hd;
    of(data).on_frame({.type = head.type,
                       .is_end = (head.flags & NGHTTP2_FLAG_END_STREAM) != 0,
                       .is_ack = (head.flags & NGHTTP2_FLAG_ACK) != 0,
                       .stream = head.stream_id,
                       .size = head.length});
    return 0;
  }

  static int on_sent(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* data) {
    if (frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      of(data).on_answered(frame->hd.stream_id);
    return 0;
  }

  static int on_invalid_frame(nghttp2_session* /*session*/, const nghttp2_frame* /*frame*/,
                              int /*error*/, void* data) {
    of(data).spend(kTakenBack);
    return 0;
  }

  static int on_close(nghttp2_session* /*session*/, std::int32_t id, std::uint32_t /*error*/,
                      void* data) {
    of(data).on_closed(id);
    return 0;
  }

  // NOLINTNEXTLINE(readability-function-size): as nghttp2 calls it
  static ssize_t read_out(nghttp2_session* /*session*/, std::int32_t id, std::uint8_t* buffer,
                          std::size_t size, std::uint32_t* flags, nghttp2_data_source* /*source*/,
                          void* data) {
    Session& self = of(data);
    Stream* const stream = self.find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::size_t taken = std::min(size, stream->out.size());
    std::copy_n(stream->out.data(), taken, reinterpret_cast<char*>(buffer));
    stream->out.erase(0, taken);
    if (stream->out.empty() && stream->is_finished) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      self.submit_trailers(id, *stream);
    } else if (taken == 0) {
      stream->waits_for_data = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(taken);
  }

  static nghttp2_session* make_session(Session& session) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* option = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0)
      throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_option_set_max_outbound_ack(option, kMaxAcks);
    nghttp2_option_set_max_settings(option, kMaxSettings);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_session* made = nullptr;
    const int error = nghttp2_session_server_new2(&made, callbacks, &session, option);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    if (error != 0) throw std::bad_alloc();
    return made;
  }
};

Session::Session(Observer& observer, TimePoint now)
    : observer_(observer), budget_(now), now_(now), session_(Callbacks::make_session(*this)) {
  const std::array<nghttp2_settings_entry, 2> settings = {
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaders}}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
}

Session::~Session() { nghttp2_session_del(session_); }

Session::Stream* Session::find(std::int32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : &found->second;
}

void Session::read(std::string_view bytes, TimePoint now) {
  now_ = now;
  if (is_stopped_) return;
  const ssize_t taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0)
    stop(taken == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
}

void Session::stop(std::uint32_t error) {
  if (is_stopped_) return;
  is_stopped_ = true;
  nghttp2_session_terminate_session(session_, error);
}

void Session::spend(std::int64_t points) {
  if (!budget_.spend(points, now_)) stop(NGHTTP2_ENHANCE_YOUR_CALM);
}

void Session::begin_stream(std::int32_t id) {
  if (!is_stopped_) streams_.emplace(id, Stream{.begun = now_});
}

void Session::on_header(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* const stream = find(id);
  if (stream == nullptr || stream->has_answer) return;
  constexpr std::size_t kOverhead = 32;  // Of a field, as RFC 9113 counts.
  stream->header_bytes += name.size() + value.size() + kOverhead;
  if (stream->header_bytes > kMaxHeaders) return;
  if (name == ":path") {
    stream->request.path = value;
  } else if (name == ":method") {
    stream->is_post = value == "POST";
  } else if (name == "authorization") {
    stream->request.authorization = value;
  } else if (name == "content-type") {
    stream->is_grpc = value.starts_with(kContentType);
  } else if (name == "grpc-timeout") {
    const auto timeout = parse_timeout(value);
    stream->has_bad_timeout = !timeout;
    // Later than that nobody waits.
    if (timeout && *timeout < std::chrono::hours(24)) stream->request.deadline = now_ + *timeout;
  }
}

void Session::on_data(std::int32_t id, std::string_view bytes) {
  Stream* const stream = find(id);
  if (stream == nullptr || stream->has_answer || stream->is_complete) return;
  if (stream->in.size() + bytes.size() > kPrefix + kMaxMessage)
    return fail(id, Status::resource_exhausted, "the message is larger than 64 kB");
  if (buffered_ + bytes.size() > kMaxBuffered)
    return fail(id, Status::resource_exhausted,
                "the messages of this connection are larger than 1 MB");
  stream->in.append(bytes);
  buffered_ += bytes.size();
}

void Session::on_frame(const Frame& frame) {
  switch (frame.type) {
    case NGHTTP2_HEADERS:
      check_headers(frame.stream);
      if (frame.is_end) complete(frame.stream);
      break;
    case NGHTTP2_DATA:
      if (frame.size == 0) spend(kControlFrame);
      if (frame.is_end) complete(frame.stream);
      break;
    case NGHTTP2_RST_STREAM: {
      const Stream* const stream = find(frame.stream);
      spend(stream != nullptr && now_ - stream->begun < kSoon ? kTakenBack : kControlFrame);
      break;
    }
    case NGHTTP2_SETTINGS:
      if (!frame.is_ack) spend(kSettingsFrame);
      break;
    default:
      spend(kControlFrame);
  }
}

void Session::check_headers(std::int32_t id) {
  const Stream* const stream = find(id);
  if (stream != nullptr && !stream->has_answer && stream->header_bytes > kMaxHeaders)
    fail(id, Status::resource_exhausted, "the header list is larger than 8 kB");
}

void Session::on_closed(std::int32_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  if (found->second.is_finished) budget_.answer();
  buffered_ -= found->second.in.size();
  streams_.erase(found);
  observer_.on_close(id);
}

void Session::complete(std::int32_t id) {
  Stream* const stream = find(id);
  if (stream == nullptr || stream->has_answer || stream->is_complete) return;
  stream->is_complete = true;
  buffered_ -= stream->in.size();
  const std::string body = std::exchange(stream->in, {});
  if (!stream->is_post) return refuse(id, "405");
  if (!stream->is_grpc) return refuse(id, "415");
  if (stream->has_bad_timeout)
    return fail(id, Status::internal, "grpc-timeout has to be up to 8 digits and a unit");
  if (is_compressed(body))
    return fail(id, Status::unimplemented, "compressed messages are not accepted");
  const auto message = only_message(body);
  if (!message) return fail(id, Status::invalid_argument, "a call has exactly one message");
  stream->request.message = *message;
  observer_.on_call(id, std::move(stream->request));
}

// Answers before the request has ended, if need be.
void Session::fail(std::int32_t id, Status status, std::string_view text) {
  const Stream* const stream = find(id);
  if (stream == nullptr) return;
  if (!stream->is_complete) spend(kTakenBack);
  finish(id, status, text);
}

// The rest of a request that was answered early is not wanted.
void Session::on_answered(std::int32_t id) {
  const Stream* const stream = find(id);
  if (stream != nullptr && !stream->is_complete)
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
}

// For what is no gRPC.
void Session::refuse(std::int32_t id, const char* http_status) {
  Stream* const stream = find(id);
  stream->has_answer = true;
  stream->is_finished = true;
  const std::array<nghttp2_nv, 1> fields = {{field(":status", http_status)}};
  nghttp2_submit_response(session_, id, fields.data(), fields.size(), nullptr);
}

void Session::begin_answer(std::int32_t id, Stream& stream) {
  stream.has_answer = true;
  const std::array<nghttp2_nv, 2> fields = {
      {field(":status", "200"), field("content-type", kContentType)}};
  const nghttp2_data_provider provider{.source = {}, .read_callback = Callbacks::read_out};
  nghttp2_submit_response(session_, id, fields.data(), fields.size(), &provider);
}

void Session::send(std::int32_t id, std::string_view message) {
  Stream* const stream = find(id);
  if (stream == nullptr || stream->is_finished || is_stopped_) return;
  append_message(stream->out, message);
  if (!stream->has_answer) return begin_answer(id, *stream);
  if (std::exchange(stream->waits_for_data, false)) nghttp2_session_resume_data(session_, id);
}

void Session::finish(std::int32_t id, Status status, std::string_view text) {
  Stream* const stream = find(id);
  if (stream == nullptr || stream->is_finished || is_stopped_) return;
  stream->is_finished = true;
  stream->status = status;
  stream->status_text = percent_encoded(text);
  if (!stream->has_answer) {
    stream->has_answer = true;
    const std::string number = std::to_string(static_cast<int>(status));
    const std::array<nghttp2_nv, 4> fields = {
        {field(":status", "200"), field("content-type", kContentType), field("grpc-status", number),
         field("grpc-message", stream->status_text)}};
    nghttp2_submit_response(session_, id, fields.data(), fields.size(), nullptr);
  } else if (std::exchange(stream->waits_for_data, false)) {
    nghttp2_session_resume_data(session_, id);
  }
}

void Session::submit_trailers(std::int32_t id, const Stream& stream) {
  const std::string number = std::to_string(static_cast<int>(stream.status));
  const std::array<nghttp2_nv, 2> fields = {
      {field("grpc-status", number), field("grpc-message", stream.status_text)}};
  nghttp2_submit_trailer(session_, id, fields.data(), stream.status_text.empty() ? 1 : 2);
}

void Session::write(std::string& out, std::size_t size) {
  while (out.size() < size) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session_, &bytes);
    if (count <= 0) {
      is_stopped_ = is_stopped_ || count < 0;
      return;
    }
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  }
}

void Session::shut_down() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

void Session::tick(TimePoint now) {
  now_ = now;
  std::vector<std::int32_t> late;
  for (const auto& [id, stream] : streams_) {
    const bool is_stuck = !stream.is_complete && now - stream.begun > kRequest;
    if (!stream.has_answer && (is_stuck || now >= stream.request.deadline)) late.push_back(id);
  }
  for (const std::int32_t id : late) fail(id, Status::deadline_exceeded, "the time is up");
}

bool Session::wants_to_read() const noexcept {
  return !is_stopped_ && nghttp2_session_want_read(session_) != 0;
}

bool Session::is_over() const noexcept {
  return !wants_to_read() && nghttp2_session_want_write(session_) == 0;
}

}  // namespace airlock::server::grpc
