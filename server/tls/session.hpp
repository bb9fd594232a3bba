#pragma once

#include <openssl/ssl.h>

#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace airlock::server {

// TLS of one connection, over a socket that does not block. What has to wait is would_block: wants_write() says for what.
class TlsSession {
 public:
  // `protocols` are offered by ALPN, each behind a byte with its length; they have to outlive the session.
  TlsSession(SSL_CTX& context, int socket, std::string_view protocols);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession() = default;

  // Until there is no error.
  void handshake(boost::system::error_code& error);
  // Of a handshake that failed: the client speaks HTTP without TLS, and nothing is written yet.
  [[nodiscard]] bool met_plain_http() const noexcept { return met_plain_http_; }

  // eof: the client writes no more. A write may be repeated with more behind the same bytes, at another place.
  [[nodiscard]] std::size_t read_some(char* data, std::size_t size,
                                      boost::system::error_code& error);
  [[nodiscard]] std::size_t write_some(const char* data, std::size_t size,
                                       boost::system::error_code& error);
  [[nodiscard]] bool wants_write() const noexcept { return wants_write_; }

  // Tells the client, once, that nothing more is written.
  void end_output() noexcept;

  // By ALPN; empty: the client offered nothing.
  [[nodiscard]] std::string_view protocol() const noexcept;
  // Of the client's certificate, which is verified; as parse_certificate_name() writes them.
  [[nodiscard]] std::vector<std::string> peer_names() const;

  // For the context of the session.
  static int select_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* chosen_size,
                             const unsigned char* offered, unsigned offered_size, void* unused);

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };

  void prepare() noexcept;
  [[nodiscard]] boost::system::error_code failure(int result);

  std::unique_ptr<SSL, Free> ssl_;
  std::string_view protocols_;
  bool wants_write_ = false;
  bool has_output_ended_ =
      true;  // Or cannot be ended: there is none before the handshake and behind an error.
  bool met_plain_http_ = false;
};

}  // namespace airlock::server
