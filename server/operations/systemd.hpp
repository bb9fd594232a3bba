#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace airlock::server {

// The sockets that systemd passes (sd_listen_fds(3)), none of them twice: the variables are removed. TLS is spoken at those
// with FileDescriptorName=tls. InvalidArgument for one that the server would not open itself. To be called before any thread is started.
[[nodiscard]] std::vector<Endpoint> inherited_endpoints();

// Tells systemd, or whoever has set NOTIFY_SOCKET, what the server does (sd_notify(3)); nobody where it is not set. One
// datagram each, which libsystemd would send alike for one more library.
class ServiceManager {
 public:
  ServiceManager();  // Removes the variables. To be made before any thread is started.
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;
  ~ServiceManager();

  void ready(const std::string& status) const;
  void reloading() const;
  void stopping() const;
  void is_alive() const;

  // How long it waits for is_alive() before it ends the server; 0: for ever.
  [[nodiscard]] std::chrono::microseconds watchdog() const noexcept { return watchdog_; }

 private:
  void send(std::string_view text) const;

  std::string socket_;  // Empty: nobody is told.
  int descriptor_ = -1;
  std::chrono::microseconds watchdog_{0};
};

}  // namespace airlock::server
