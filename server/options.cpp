#include "options.hpp"

#include <sys/un.h>

#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "airlock/error.hpp"

namespace airlock::server {
namespace {

namespace asio = boost::asio;

constexpr const char* kForms =
    "has to be tcp:HOST:PORT, tls:HOST:PORT, unix:PATH or systemd:, or for gRPC grpc:HOST:PORT, "
    "grpc+tls:HOST:PORT or grpc+unix:PATH";

asio::ip::address address_of(const std::string& text, const std::string& host) {
  boost::system::error_code failed;
  auto address = asio::ip::make_address(host, failed);
  if (failed) throw InvalidArgument(text + ": HOST has to be an address, or localhost");
  return address;
}

Endpoint net_endpoint(Endpoint::Kind kind, const std::string& text, const std::string& rest) {
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string::npos) throw InvalidArgument(text + ": " + kForms);
  Endpoint endpoint{.kind = kind, .host = rest.substr(0, colon)};
  const std::string port = rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc() || end != port.data() + port.size() || port.empty()) {
    throw InvalidArgument(text + ": the port has to be a number from 0 to 65535");
  }
  if (endpoint.host == "localhost") endpoint.host = "127.0.0.1";
  if (endpoint.host.starts_with('[') && endpoint.host.ends_with(']')) {
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  }
  const auto address = address_of(text, endpoint.host);
  if (kind == Endpoint::Kind::tcp && !address.is_loopback()) {
    throw InvalidArgument(text +
                          ": is refused, because tokens and answers would be readable on the way; "
                          "use tls:HOST:PORT, or tcp: with 127.0.0.1 or [::1]");
  }
  return endpoint;
}

}  // namespace

Endpoint parse_endpoint(const std::string& text) {
  const std::size_t scheme = text.find(':') + 1;
  std::string kind = text.substr(0, scheme);
  const std::string rest = text.substr(scheme);
  const bool is_grpc = kind.starts_with("grpc");
  if (is_grpc) kind = kind == "grpc:" ? "tcp:" : kind.substr(std::string_view("grpc+").size());
  if (kind == "tcp:" || kind == "tls:") {
    Endpoint endpoint =
        net_endpoint(kind == "tcp:" ? Endpoint::Kind::tcp : Endpoint::Kind::tls, text, rest);
    endpoint.is_grpc = is_grpc;
    return endpoint;
  }
  if (kind != "unix:" || rest.empty()) throw InvalidArgument(text + ": " + kForms);
  Endpoint endpoint{.kind = Endpoint::Kind::unix, .path = rest, .is_grpc = is_grpc};
  if (endpoint.path.size() >= sizeof(sockaddr_un::sun_path)) {
    throw InvalidArgument(text + ": PATH has at most " +
                          std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  }
  return endpoint;
}

std::string endpoint_text(const Endpoint& endpoint) {
  const std::string prefix = endpoint.is_grpc ? "grpc+" : "";
  if (endpoint.kind == Endpoint::Kind::unix) return prefix + "unix:" + endpoint.path;
  const bool is_v6 = endpoint.host.find(':') != std::string::npos;
  const std::string plain = endpoint.is_grpc ? "grpc:" : "tcp:";
  return (endpoint.kind == Endpoint::Kind::tls ? prefix + "tls:" : plain) +
         (is_v6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

void check_exposure(const Endpoint& endpoint, const Config& config) {
  const std::string where = endpoint_text(endpoint);
  const bool is_wide = endpoint.kind == Endpoint::Kind::unix && endpoint.mode != kPrivateSocket;
  if (is_wide && config.rights.is_open())
    throw InvalidArgument(where + ": others may connect, so airlock.toml needs a [[principal]]");
  if (endpoint.kind != Endpoint::Kind::tls) return;
  if (!config.tls.is_set())
    throw InvalidArgument(where + ": needs certificate and key in [tls] of airlock.toml");
  if (address_of(where, endpoint.host).is_loopback()) return;
  if (!config.rights.knows_tokens() && !config.rights.knows_certificates())
    throw InvalidArgument(where +
                          ": is refused, because nobody could be told from anybody else; "
                          "airlock.toml needs a [[principal]] with tokens or certificates");
}

}  // namespace airlock::server
