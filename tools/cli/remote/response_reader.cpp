#include "response_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "airlock/error.hpp"

namespace airlock::cli {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMaxHead = 16 << 10;
constexpr std::size_t kMaxBody = 64 << 20;
constexpr std::string_view kLastChunk = "0\r\n\r\n";

[[noreturn]] void fail(const char* what) {
  throw StoreError(StoreError::Kind::incompatible, StoreError::Outcome::nothing_happened, what);
}

[[noreturn]] void fail(const boost::beast::error_code& error) {
  if (error == http::error::body_limit) fail("its answer has more than 64 MB; use --match");
  fail("its answer is not HTTP/1.1");
}

}  // namespace

struct ResponseReader::Parser : http::basic_parser<false> {
  using Verb = http::verb;
  using Field = http::field;
  using ErrorCode = boost::beast::error_code;
  using Text = boost::beast::string_view;

  Parser() {
    eager(true);
    header_limit(kMaxHead);
    body_limit(kMaxBody);
  }

  bool read(std::string_view& bytes);

  void on_request_impl(Verb method, Text method_text, Text target, int version,
                       ErrorCode& error) override;
  void on_response_impl(int status, Text reason, int version, ErrorCode& error) override;
  void on_field_impl(Field name, Text name_text, Text value, ErrorCode& error) override;
  void on_header_impl(ErrorCode& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, ErrorCode& error) override;
  std::size_t on_body_impl(Text piece, ErrorCode& error) override;
  void on_chunk_header_impl(std::uint64_t size, Text extensions, ErrorCode& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, Text piece, ErrorCode& error) override;
  void on_finish_impl(ErrorCode& error) override;

  HttpAnswer answer;
};

bool ResponseReader::Parser::read(std::string_view& bytes) {
  // Beast 1.74 asserts that the last chunk has 5 bytes when it is given the rest of it. As long as a chunked body is not
  // at its end, at least these are to come.
  while (!is_done() && bytes.size() >= (is_header_done() && chunked() ? kLastChunk.size() : 1)) {
    ErrorCode error;
    const std::size_t used = put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    bytes.remove_prefix(used);
    if (error == http::error::need_more) break;
    if (error) fail(error);
    if (is_header_done() && !is_done() && need_eof()) fail("its answer has no length");
  }
  if (!is_done() && bytes.size() > kMaxHead) fail("its answer is not HTTP/1.1");
  return is_done();
}

void ResponseReader::Parser::on_request_impl(Verb /*method*/, Text /*method_text*/, Text /*target*/,
                                             int /*version*/, ErrorCode& /*error*/) {}

void ResponseReader::Parser::on_response_impl(int status, Text /*reason*/, int /*version*/,
                                              ErrorCode& /*error*/) {
  answer.status = status;
}

void ResponseReader::Parser::on_field_impl(Field /*name*/, Text /*name_text*/, Text /*value*/,
                                           ErrorCode& /*error*/) {}

void ResponseReader::Parser::on_header_impl(ErrorCode& /*error*/) {}

void ResponseReader::Parser::on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                                               ErrorCode& /*error*/) {}

std::size_t ResponseReader::Parser::on_body_impl(Text piece, ErrorCode& /*error*/) {
  answer.body.append(piece.data(), piece.size());
  return piece.size();
}

// Beast counts the size in such a line again each time it is read, so a long one would be counted often.
void ResponseReader::Parser::on_chunk_header_impl(std::uint64_t /*size*/, Text extensions,
                                                  ErrorCode& error) {
  if (!extensions.empty()) error = http::error::bad_chunk_extension;
}

std::size_t ResponseReader::Parser::on_chunk_body_impl(std::uint64_t /*remain*/, Text piece,
                                                       ErrorCode& /*error*/) {
  answer.body.append(piece.data(), piece.size());
  return piece.size();
}

void ResponseReader::Parser::on_finish_impl(ErrorCode& /*error*/) {}

ResponseReader::ResponseReader() : parser_(std::make_unique<Parser>()) {}
ResponseReader::~ResponseReader() = default;

bool ResponseReader::read(std::string_view& bytes) { return parser_->read(bytes); }
HttpAnswer& ResponseReader::answer() noexcept { return parser_->answer; }

}  // namespace airlock::cli
