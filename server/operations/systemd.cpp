#include "operations/systemd.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>

#include "airlock/error.hpp"

namespace airlock::server {
namespace {

constexpr int kFirstInherited = 3;
constexpr unsigned kMaxInherited = 64;

// The value of the variable, which is removed: it is not meant for other processes.
std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  std::string taken = value != nullptr ? value : "";
  unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  return taken;
}

unsigned long long number_in(const std::string& text) {
  unsigned long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

int option(int descriptor, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

Endpoint unix_endpoint(const sockaddr_un& address, socklen_t size) {
  constexpr std::size_t kBefore = offsetof(sockaddr_un, sun_path);
  std::string path(static_cast<const char*>(address.sun_path), size > kBefore ? size - kBefore : 0);
  if (path.starts_with('\0')) {
    path.front() = '@';  // Of the abstract namespace.
  } else {
    path.resize(std::strlen(path.c_str()));
  }
  return {.kind = Endpoint::Kind::unix, .path = path};
}

// The same rules as for an address that the configuration names.
Endpoint net_endpoint(const sockaddr_storage& address, socklen_t size, const std::string& kind) {
  boost::asio::ip::tcp::endpoint endpoint;
  endpoint.resize(size);
  std::memcpy(endpoint.data(), &address, size);
  const std::string host = endpoint.address().to_string();
  return parse_endpoint(kind + (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" +
                        std::to_string(endpoint.port()));
}

Endpoint endpoint_of(int descriptor, const std::string& kind) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      (address.ss_family != AF_UNIX && address.ss_family != AF_INET &&
       address.ss_family != AF_INET6) ||
      option(descriptor, SO_TYPE) != SOCK_STREAM || option(descriptor, SO_ACCEPTCONN) != 1)
    throw InvalidArgument("has to be a socket of ListenStream= with Accept=no");
  if (address.ss_family == AF_UNIX) {
    sockaddr_un local{};
    std::memcpy(&local, &address, sizeof local);
    return unix_endpoint(local, size);
  }
  return net_endpoint(address, size, kind);
}

}  // namespace

std::vector<Endpoint> inherited_endpoints() {
  const bool is_ours = number_in(take_variable("LISTEN_PID")) == static_cast<unsigned>(getpid());
  const auto count = number_in(take_variable("LISTEN_FDS"));
  std::istringstream names(take_variable("LISTEN_FDNAMES"));
  std::vector<Endpoint> endpoints;
  if (!is_ours) return endpoints;
  if (count > kMaxInherited) throw InvalidArgument("LISTEN_FDS has to be at most 64");
  for (int each = 0; each < static_cast<int>(count); ++each) {
    const int descriptor = kFirstInherited + each;
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    std::string name;
    std::getline(names, name, ':');
    try {
      endpoints.push_back(endpoint_of(descriptor, name == "tls" ? "tls:" : "tcp:"));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument("descriptor " + std::to_string(descriptor) +
                            " of systemd: " + error.what());
    }
    endpoints.back().descriptor = descriptor;
  }
  return endpoints;
}

ServiceManager::ServiceManager() : socket_(take_variable("NOTIFY_SOCKET")) {
  const std::string pid = take_variable("WATCHDOG_PID");
  const auto interval = number_in(take_variable("WATCHDOG_USEC"));
  if (socket_.empty()) return;
  descriptor_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (pid.empty() || number_in(pid) == static_cast<unsigned>(getpid()))
    watchdog_ = std::chrono::microseconds(interval);
}

ServiceManager::~ServiceManager() {
  if (descriptor_ >= 0) close(descriptor_);
}

void ServiceManager::send(std::string_view text) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (descriptor_ < 0 || socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(static_cast<char*>(address.sun_path), socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = 0;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  sendto(descriptor_, text.data(), text.size(), MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&address), size);
}

void ServiceManager::ready(const std::string& status) const { send("READY=1\nSTATUS=" + status); }

void ServiceManager::reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto since_boot = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  send("RELOADING=1\nMONOTONIC_USEC=" +
       std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count()));
}

void ServiceManager::stopping() const { send("STOPPING=1\nSTATUS=draining"); }

void ServiceManager::is_alive() const { send("WATCHDOG=1"); }

}  // namespace airlock::server
