#pragma once

#include <string>

#include "server_url.hpp"

namespace airlock::cli {

struct HttpAnswer {
  int status = 0;
  std::string body = {};
};

// Asks one server, each time over a connection of its own.
struct HttpClient {
  ServerUrl url;
  std::string ca = {};
  std::string token = {};  // Sent as `Authorization: Bearer`.

  // StoreError where there is no answer; `outcome` is unknown where a request that changes something was sent. `body` is
  // JSON, or empty.
  [[nodiscard]] HttpAnswer ask(const std::string& method, const std::string& target,
                               const std::string& body = {}) const;
};

}  // namespace airlock::cli
