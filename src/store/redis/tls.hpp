#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "store/redis/address.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace airlock::redis {

// What all TLS connections to an address share: authorities and the client's certificate, read when
// the first is opened. TLS 1.2 at least; the server's certificate must be for the host asked.
class TlsContext {
 public:
  // StoreError names the file that cannot be read.
  explicit TlsContext(const Address& address);

  [[nodiscard]] ssl_ctx_st* get() const noexcept { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

// One side of a TLS connection, without a socket: bytes of the network go in and come out.
class Tls {
 public:
  Tls(const TlsContext& context, const std::string& host);

  // One more step of the handshake; true: it is over. StoreError carries the reason of X.509.
  [[nodiscard]] bool shake_hands();

  void encrypt(std::string_view plain);
  [[nodiscard]] std::size_t decrypt(std::span<char> into);  // 0: more must be fed first.

  // To and from the network.
  void feed(std::string_view received);
  [[nodiscard]] std::string take_output();

 private:
  [[noreturn]] void fail(const char* what);

  struct Free {
    void operator()(ssl_st* ssl) const noexcept;
  };
  std::unique_ptr<ssl_st, Free> ssl_;
};

}  // namespace airlock::redis
