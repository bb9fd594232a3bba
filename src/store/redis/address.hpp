#pragma once

#include <cstdint>
#include <string>

#include "airlock/duration.hpp"
#include "store/uri.hpp"

namespace airlock::redis {

// Where a server is and how it is spoken to.
struct Address {
  std::string path = {};  // Of a Unix socket; empty: host and port.
  std::string host = {};
  std::uint16_t port = 6379;
  std::uint32_t db = 0;
  std::string user = {};
  std::string password = {};

  bool tls = false;
  std::string ca = {};    // Empty: the system's authorities.
  std::string cert = {};  // Empty: no client certificate.
  std::string key = {};

  Duration timeout = std::chrono::seconds(1);  // A connection on which nothing arrives is dead.
  bool allow_eviction = false;                 // Of keys that hold admissions.

  // For messages: never user or password.
  [[nodiscard]] std::string text() const;

  // redis://, rediss:// and redis+unix://. InvalidArgument says what is wrong, never a password.
  [[nodiscard]] static Address parse(const Uri& uri);
};

}  // namespace airlock::redis
