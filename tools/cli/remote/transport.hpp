#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server_url.hpp"

namespace airlock::cli {

// A connection to a server, over TLS where its URL says https: the certificate must be for the host, and from an
// authority of the file `ca`, or of the system. Everything is over within the timeout of the URL.
// StoreError says what is wrong.
class Transport {
 public:
  Transport(const ServerUrl& url, const std::string& ca);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport();

  void write(std::string_view bytes);
  [[nodiscard]] std::string_view read();  // At least one byte, valid until the next call.

 private:
  struct Connection;

  std::unique_ptr<Connection> connection_;
};

}  // namespace airlock::cli
