#pragma once

#include <cstdint>
#include <string>

#include "airlock/duration.hpp"

namespace airlock::cli {

// Where airlock-server is: unix:PATH, http://HOST[:PORT][/BASE] or https://HOST[:PORT][/BASE], and `?timeout=5s` behind
// it.
struct ServerUrl {
  std::string text;         // As it was written, without options, for messages.
  std::string socket = {};  // The path of a Unix socket; empty: host and port.
  std::string host = {};
  std::uint16_t port = 0;
  bool tls = false;
  std::string base = {};  // What stands before every path, without a / at its end.

  Duration timeout = std::chrono::seconds(10);  // Of a request: from connecting to the last byte.

  // InvalidArgument says what is wrong, never a password.
  [[nodiscard]] static ServerUrl parse(const std::string& text);

  // The value of the field Host.
  [[nodiscard]] std::string host_field() const;
  // Whether everything stays on this host.
  [[nodiscard]] bool is_local() const;
};

}  // namespace airlock::cli
