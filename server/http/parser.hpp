#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "head.hpp"
#include "message.hpp"

namespace airlock::server {

// Reads one request, from bytes that come in pieces of any size.
//
//   RequestReader reader;
//   switch (reader.read(bytes)) ...  // bytes.remove_prefix(reader.consumed())
//
// The head goes through scan_head() and check_head(), then through the parser of Boost.Beast, which also reads the body.
class RequestReader : private boost::beast::http::basic_parser<true> {
 public:
  RequestReader();

  enum class State : std::uint8_t { needs_more, has_head, complete, failed };

  // Takes what it can use off the beginning of `bytes`. needs_more: call it again with what it left and more.
  // has_head: the head is good and a body follows; said once.
  [[nodiscard]] State read(std::string_view& bytes);

  [[nodiscard]] Request& request() noexcept { return request_; }
  [[nodiscard]] bool has_head() const noexcept { return has_head_; }
  [[nodiscard]] bool is_head() const noexcept {
    return is_head_method_;
  }  // The method, with which nothing but a head is answered.
  [[nodiscard]] bool keeps_alive() const { return !is_1_0_ && keep_alive(); }

  // Of a request that failed: its status, and the rule that it breaks.
  [[nodiscard]] int status() const noexcept { return failure_.status; }
  [[nodiscard]] const char* rule() const noexcept { return failure_.rule; }

 private:
  using Verb = boost::beast::http::verb;
  using Field = boost::beast::http::field;
  using ErrorCode = boost::beast::error_code;
  using Text = boost::beast::string_view;

  [[nodiscard]] State read_head(std::string_view& bytes);
  [[nodiscard]] State read_body(std::string_view& bytes);
  [[nodiscard]] State fail(int status, const char* rule) noexcept;
  void add_body(Text piece, ErrorCode& error);

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

  Request request_;
  HeadCheck failure_;
  std::size_t scanned_ = 0;
  bool has_head_ = false;
  bool is_head_method_ = false;
  bool is_1_0_ = false;
};

}  // namespace airlock::server
