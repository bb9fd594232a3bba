#include "listener.hpp"

#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "airlock/error.hpp"
#include "check/networks.hpp"
#include "config/config.hpp"
#include "grpc/connection.hpp"
#include "http/connection.hpp"
#include "tls/handshake.hpp"

namespace airlock::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kMaxConnections = 10'000;

constexpr std::size_t kUsualGroups = 16;

constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: "
    "close\r\n\r\n";
constexpr std::string_view kTooManyOfOne =
    "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: "
    "close\r\n\r\n";

asio::ip::tcp::endpoint to_tcp(const asio::generic::stream_protocol::endpoint& generic) {
  asio::ip::tcp::endpoint tcp;  // Of IPv4, and of that size, until an address is in it.
  std::memcpy(tcp.data(), generic.data(), std::min(generic.size(), tcp.capacity()));
  return tcp;
}

// Those of the process that connected; its own group first.
std::vector<unsigned> groups_of(int socket, gid_t own) {
  std::vector<unsigned> groups(1 + kUsualGroups, own);
  auto size = static_cast<socklen_t>(kUsualGroups * sizeof(gid_t));
  int result = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data() + 1, &size);
  if (result != 0 && errno == ERANGE) {  // The size is now what is needed.
    groups.resize(1 + size / sizeof(gid_t));
    result = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data() + 1, &size);
  }
  groups.resize(result == 0 ? 1 + size / sizeof(gid_t) : 1);
  groups.shrink_to_fit();
  return groups;
}

Peer unix_peer(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return {.label = "http"};
  return {.label = "http pid " + std::to_string(credentials.pid),
          .user = credentials.uid,
          .groups = groups_of(socket, credentials.gid)};
}

Peer peer_of(asio::generic::stream_protocol::socket& socket, const Endpoint& endpoint) {
  if (endpoint.kind == Endpoint::Kind::unix) return unix_peer(socket.native_handle());
  error_code error;
  const auto remote = to_tcp(socket.remote_endpoint(error));
  if (error) return {.label = "http"};
  const auto address = without_mapping(remote.address());
  return {.label = "http port " + std::to_string(remote.port()),
          .is_loopback = address.is_loopback(),
          .address = address};
}

constexpr std::string_view kHttp2 = "\x02h2";

void begin(Loop& loop, Transport transport, Peer peer, bool is_grpc, const Handlers& handlers) {
  if (is_grpc)
    grpc::Connection::start(loop, std::move(transport), std::move(peer), handlers.grpc);
  else
    Connection::start(loop, std::move(transport), std::move(peer), handlers.http);
}

void begin_plain(Loop& loop, asio::generic::stream_protocol::socket socket, Peer peer, bool is_grpc,
                 const Handlers& handlers) {
  begin(loop, std::move(socket), std::move(peer), is_grpc, handlers);
}

// With the certificate of now, also after a reload.
void begin_tls(Loop& loop, asio::generic::stream_protocol::socket socket, Peer peer, bool is_grpc,
               const Handlers& handlers) {
  const TlsContext& tls = loop.config().tls;
  if (!tls.is_set()) return;
  auto session = tls.accept(socket.native_handle(), is_grpc ? kHttp2 : kHttp1);
  TlsHandshake::start(loop, std::move(socket), std::move(session),
                      [&loop, peer = std::move(peer), is_grpc, &handlers](
                          auto connected, std::unique_ptr<TlsSession> done) mutable {
                        peer.certificate_names = done->peer_names();
                        begin(loop, Transport(std::move(connected), std::move(done)),
                              std::move(peer), is_grpc, handlers);
                      });
}

// Whether a server accepts there.
bool is_in_use(const std::string& path) {
  asio::io_context context;
  asio::local::stream_protocol::socket probe(context);
  error_code error;
  probe.connect(asio::local::stream_protocol::endpoint(path), error);
  return !error || error != asio::error::connection_refused;
}

}  // namespace

Listener::Listener(Loop& loop, Endpoint endpoint, std::function<Loop&()> next_loop,
                   const Handlers& handlers)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      next_loop_(std::move(next_loop)),
      handlers_(handlers),
      acceptor_(loop.context()),
      pause_(loop.context()) {
  if (endpoint_.descriptor >= 0) {
    adopt();
  } else {
    endpoint_.kind == Endpoint::Kind::unix ? open_unix() : open_tcp();
  }
  error_code error;
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) fail("listen", error.value());
}

Listener::~Listener() { close(); }

void Listener::fail(const char* what, int error) const {
  throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::nothing_happened,
                   text() + ": " + what + ": " + std::generic_category().message(error));
}

void Listener::open_tcp() {
  const asio::ip::tcp::endpoint wanted(asio::ip::make_address(endpoint_.host), endpoint_.port);
  error_code error;
  acceptor_.open(Protocol(wanted.protocol()), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(Protocol::endpoint(wanted), error);
  if (error) fail("bind", error.value());
  endpoint_.port = to_tcp(acceptor_.local_endpoint()).port();
}

void Listener::open_unix() {
  struct stat status {};
  if (lstat(endpoint_.path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) fail("exists and is no socket", EEXIST);
    if (is_in_use(endpoint_.path)) fail("bind", EADDRINUSE);
    unlink(endpoint_.path.c_str());
  }
  error_code error;
  acceptor_.open(Protocol(AF_UNIX, 0), error);
  const mode_t mask = umask(0177);  // Nobody else may connect, not for a moment.
  if (!error)
    acceptor_.bind(Protocol::endpoint(asio::local::stream_protocol::endpoint(endpoint_.path)),
                   error);
  umask(mask);
  if (error) fail("bind", error.value());
  has_path_ = true;
  if (endpoint_.mode != kPrivateSocket && chmod(endpoint_.path.c_str(), endpoint_.mode) != 0)
    fail("chmod", errno);
}

void Listener::adopt() {
  const bool is_unix = endpoint_.kind == Endpoint::Kind::unix;
  const int family = is_unix                                         ? AF_UNIX
                     : endpoint_.host.find(':') != std::string::npos ? AF_INET6
                                                                     : AF_INET;
  error_code error;
  acceptor_.assign(Protocol(family, 0), endpoint_.descriptor, error);
  if (error) fail("adopt", error.value());
}

void Listener::close() {
  error_code ignored;
  pause_.cancel();
  acceptor_.close(ignored);
  if (std::exchange(has_path_, false)) unlink(endpoint_.path.c_str());
}

void Listener::accept() {
  Loop& to = next_loop_();
  acceptor_.async_accept(
      to.context(), [this, &to](const error_code& error, Protocol::socket socket) {
        if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
        if (!error) {
          take(to, std::move(socket));
          return accept();
        }
        // No more descriptors, most likely; those who wait to be accepted wait on.
        loop_.shared().operations.errors.report("accept", text() + ": " + error.message());
        pause_.expires_after(std::chrono::milliseconds(100));
        pause_.async_wait([this](const error_code& cancelled) {
          if (!cancelled) accept();
        });
      });
}

// With TLS nothing can be said before the handshake, and gRPC has other words.
void Listener::refuse(Protocol::socket& socket, std::string_view answer) const {
  if (endpoint_.kind == Endpoint::Kind::tls || endpoint_.is_grpc) return;
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(answer.data(), answer.size()), ignored);
}

void Listener::take(Loop& to, Protocol::socket socket) {
  error_code ignored;
  Operations& operations = loop_.shared().operations;
  if (loop_.shared().connections >= kMaxConnections) {
    ++operations.refused_connections;
    operations.errors.report("connections", "10 000 are open; another was refused");
    return refuse(socket, kTooMany);
  }
  Peer peer = peer_of(socket, endpoint_);
  if (!loop_.config().proxies.is_trusted(peer)) {
    const auto ticket = operations.caps.take(peer.address, AddressCaps::Kind::connections);
    if (!ticket) return refuse(socket, kTooManyOfOne);
    peer.counted = *ticket;
  }
  if (endpoint_.kind != Endpoint::Kind::unix)
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  const auto moved = std::make_shared<Protocol::socket>(std::move(socket));
  const auto begin_as = endpoint_.kind == Endpoint::Kind::tls ? begin_tls : begin_plain;
  to.post([begin_as, &to, moved, peer = std::move(peer), &handlers = handlers_,
           is_grpc = endpoint_.is_grpc]() mutable {
    begin_as(to, std::move(*moved), std::move(peer), is_grpc, handlers);
  });
}

}  // namespace airlock::server
