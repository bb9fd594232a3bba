#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"

// The command line of airlock-server.

namespace airlock::server {

// Where to listen: tcp:HOST:PORT, tls:HOST:PORT or unix:PATH; for gRPC grpc:HOST:PORT, grpc+tls:HOST:PORT or grpc+unix:PATH.
struct Endpoint {
  enum class Kind : std::uint8_t { tcp, tls, unix };

  Kind kind = Kind::tcp;
  std::string host = {};   // tcp: an address of this machine itself. tls: any.
  std::uint16_t port = 0;  // 0: any that is free.
  std::string path = {};   // unix
  unsigned mode = kPrivateSocket;
  bool is_grpc = false;  // HTTP/2 from the first byte.
  int descriptor = -1;   // Of a socket that listens already; -1: none.
};

inline constexpr unsigned kMaxThreads = 256;

struct Options {
  std::string store = "shm:";
  std::vector<Endpoint> listen = {};
  unsigned threads = 0;          // Loops. 0: one per processor.
  ConfigPtr config = {};         // Never null.
  std::string config_file = {};  // Empty: none.
};

[[nodiscard]] std::string endpoint_text(const Endpoint& endpoint);

// InvalidArgument names what is wrong, and the way out.
[[nodiscard]] Endpoint parse_endpoint(const std::string& text);

// InvalidArgument if strangers could come in there without a credential. A configuration that is loaded later has to pass
// for each endpoint that is listened at.
void check_exposure(const Endpoint& endpoint, const Config& config);

// Stands for the sockets that systemd passes, and for a mistake where it passes none.
inline constexpr const char* kInherited = "systemd:";

}  // namespace airlock::server
