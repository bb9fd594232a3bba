#include "parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

namespace airlock::server {
namespace {

namespace http = boost::beast::http;

constexpr std::string_view kLastChunk = "0\r\n\r\n";

std::string text(boost::beast::string_view view) { return {view.data(), view.size()}; }

}  // namespace

RequestReader::RequestReader() {
  eager(true);
  header_limit(kMaxHead);
  body_limit(kMaxBody);
}

RequestReader::State RequestReader::read(std::string_view& bytes) {
  return has_head_ ? read_body(bytes) : read_head(bytes);
}

RequestReader::State RequestReader::fail(int status, const char* rule) noexcept {
  if (failure_.status == 0) failure_ = {.status = status, .rule = rule};
  return State::failed;
}

RequestReader::State RequestReader::read_head(std::string_view& bytes) {
  const HeadScan scan = scan_head(bytes.substr(0, kMaxHead), scanned_);
  if (scan.state == HeadScan::State::malformed)
    return fail(400, "the head has lines of text that end with CR LF");
  if (scan.state == HeadScan::State::incomplete) {
    scanned_ = scan.size;
    return bytes.size() >= kMaxHead ? fail(431, "the head has at most 8 kB") : State::needs_more;
  }
  const HeadCheck check = check_head(bytes.substr(0, scan.size));
  if (check.status != 0) return fail(check.status, check.rule);
  if (check.length > kMaxBody) return fail(413, "the body has at most 64 kB");
  ErrorCode error;
  const std::size_t used = put(boost::asio::buffer(bytes.data(), scan.size), error);
  if ((error && error != http::error::need_more) || used != scan.size || !is_header_done()) {
    return fail(400, "this is not a request of HTTP/1.1");
  }
  bytes.remove_prefix(used);
  has_head_ = true;
  return is_done() ? State::complete : State::has_head;
}

RequestReader::State RequestReader::read_body(std::string_view& bytes) {
  // Beast 1.74 asserts that the last chunk has 5 bytes when it is given the rest of it. As long as a chunked body is not
  // at its end, at least these are to come.
  const std::size_t least = chunked() ? kLastChunk.size() : 1;
  while (!is_done() && bytes.size() >= least) {
    ErrorCode error;
    const std::size_t used = put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    bytes.remove_prefix(used);
    if (error == http::error::need_more) {
      // What is left is a line between two chunks. Beast counts the size in it again each time it is read.
      if (bytes.find(';') != std::string_view::npos)
        return fail(400, "chunk extensions are not supported");
      break;
    }
    if (error == http::error::body_limit) return fail(413, "the body has at most 64 kB");
    if (error) return fail(400, "the body is not framed as its head says");
  }
  if (is_done()) return State::complete;
  // A line between two chunks.
  return bytes.size() > kMaxHead ? fail(400, "the body is not framed as its head says")
                                 : State::needs_more;
}

void RequestReader::on_request_impl(Verb /*method*/, Text method_text, Text target, int version,
                                    ErrorCode& /*error*/) {
  is_1_0_ = version == 10;
  is_head_method_ = method_text == "HEAD";
  request_.method = is_head_method_ ? "GET" : text(method_text);
  const std::size_t mark = target.find('?');
  request_.path = text(target.substr(0, mark));
  if (mark != Text::npos) request_.query = text(target.substr(mark + 1));
}

void RequestReader::on_response_impl(int /*status*/, Text /*reason*/, int /*version*/,
                                     ErrorCode& /*error*/) {}

void RequestReader::on_field_impl(Field name, Text name_text, Text value, ErrorCode& error) {
  if (has_head_) {
    (void)fail(400, "trailers are not supported");
    error = http::error::bad_field;
    return;
  }
  request_.fields.append(name_text.data(), name_text.size()).append(1, ':');
  request_.fields.append(value.data(), value.size()).append(1, '\n');
  switch (name) {
    case Field::host:
      request_.host = text(value);
      break;
    case Field::origin:
      request_.origin = text(value);
      break;
    case Field::accept:
      request_.accept = text(value);
      break;
    case Field::content_type:
      request_.content_type = text(value);
      break;
    case Field::authorization:
      // Two fields are no token of anybody.
      if (!request_.authorization.empty()) request_.authorization += ',';
      request_.authorization += text(value);
      break;
    case Field::expect:
      request_.expects_continue = true;
      break;
    default:
      if (boost::beast::iequals(name_text.substr(0, 10), "sec-fetch-"))
        request_.has_fetch_metadata = true;
  }
}

void RequestReader::on_header_impl(ErrorCode& /*error*/) {}

void RequestReader::on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                                      ErrorCode& /*error*/) {}

void RequestReader::add_body(Text piece, ErrorCode& error) {
  if (request_.body.size() + piece.size() > kMaxBody) {
    error = http::error::body_limit;
  } else {
    request_.body.append(piece.data(), piece.size());
  }
}

std::size_t RequestReader::on_body_impl(Text piece, ErrorCode& error) {
  add_body(piece, error);
  return piece.size();
}

void RequestReader::on_chunk_header_impl(std::uint64_t /*size*/, Text extensions,
                                         ErrorCode& error) {
  if (extensions.empty()) return;
  (void)fail(400, "chunk extensions are not supported");
  error = http::error::bad_chunk_extension;
}

std::size_t RequestReader::on_chunk_body_impl(std::uint64_t /*remain*/, Text piece,
                                              ErrorCode& error) {
  add_body(piece, error);
  return piece.size();
}

void RequestReader::on_finish_impl(ErrorCode& /*error*/) {}

}  // namespace airlock::server
