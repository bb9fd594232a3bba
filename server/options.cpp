#include "options.hpp"

#include <sys/un.h>

#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "airlock/error.hpp"

namespace airlock::server {
namespace {

constexpr const char* kForms = "has to be tcp:HOST:PORT or unix:PATH";

Endpoint tcp_endpoint(const std::string& text, const std::string& rest) {
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string::npos) throw InvalidArgument(text + ": " + kForms);
  Endpoint endpoint{.kind = Endpoint::Kind::tcp, .host = rest.substr(0, colon)};
  const std::string port = rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc() || end != port.data() + port.size() || port.empty()) {
    throw InvalidArgument(text + ": the port has to be a number from 0 to 65535");
  }
  if (endpoint.host == "localhost") endpoint.host = "127.0.0.1";
  if (endpoint.host.starts_with('[') && endpoint.host.ends_with(']')) {
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  }
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(endpoint.host, failed);
  if (failed) throw InvalidArgument(text + ": HOST has to be localhost, 127.0.0.1 or [::1]");
  if (!address.is_loopback()) {
    throw InvalidArgument(
        text +
        ": is refused, because this server has no authentication yet and everybody who reaches it "
        "may do "
        "everything; use 127.0.0.1, [::1] or unix:PATH, and a proxy that authenticates");
  }
  return endpoint;
}

}  // namespace

Endpoint parse_endpoint(const std::string& text) {
  if (text.starts_with("tcp:")) return tcp_endpoint(text, text.substr(4));
  if (!text.starts_with("unix:") || text.size() == 5) throw InvalidArgument(text + ": " + kForms);
  Endpoint endpoint{.kind = Endpoint::Kind::unix, .path = text.substr(5)};
  if (endpoint.path.size() >= sizeof(sockaddr_un::sun_path)) {
    throw InvalidArgument(text + ": PATH has at most " +
                          std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  }
  return endpoint;
}

}  // namespace airlock::server
