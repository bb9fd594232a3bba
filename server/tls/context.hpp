#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "config/table_reader.hpp"
#include "tls/session.hpp"

namespace airlock::server {

// What listeners offer by ALPN.
inline constexpr std::string_view kHttp1 = "\x08http/1.1";

// [tls]: certificate, key, and whose client certificates are verified. TLS 1.2 or later; no renegotiation, no early data.
// The files are read with the configuration, so a reload brings renewed ones.
class TlsContext {
 public:
  // Reads the section if there is one.
  void read(TableReader& file);

  [[nodiscard]] bool is_set() const noexcept { return context_ != nullptr; }
  [[nodiscard]] bool verifies_clients() const noexcept { return verifies_clients_; }

  // For a connection that was accepted. Needs is_set().
  [[nodiscard]] std::unique_ptr<TlsSession> accept(int socket,
                                                   std::string_view protocols = kHttp1) const;

 private:
  void load(TableReader& table);
  void load_key(TableReader& table, const std::string& file);
  void load_clients(TableReader& table);

  std::shared_ptr<SSL_CTX> context_;
  bool verifies_clients_ = false;
};

}  // namespace airlock::server
