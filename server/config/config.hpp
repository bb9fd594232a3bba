#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/browser_hosts.hpp"
#include "config/gate_rules.hpp"
#include "dashboard/config.hpp"
#include "operations/client_address.hpp"
#include "operations/log_settings.hpp"
#include "rights/rights.hpp"
#include "rls/descriptors.hpp"
#include "room/room_rules.hpp"
#include "tls/context.hpp"

namespace airlock::server {

inline constexpr unsigned kPrivateSocket = 0600;

// What airlock.toml says. Never changed once it is read: a reload makes another one, and a request keeps the one that it
// began with. Each section is a type with a member read(TableReader&), in a file of its own.
struct Config {
  std::optional<std::string> store = {};
  std::vector<std::string> listen = {};
  std::optional<unsigned> threads = {};
  GateRules gates = {};
  LogSettings log = {};
  TrustedProxies proxies = {};
  Rights rights = {};
  TlsContext tls = {};
  unsigned socket_mode = kPrivateSocket;  // Of Unix sockets. Wider needs rights.
  rls::Descriptors descriptors = {};
  DashboardConfig dashboard = {};
  BrowserHosts hosts = {};
  RoomRules rooms = {};
};

using ConfigPtr = std::shared_ptr<const Config>;

// InvalidArgument names file, line and key of the first mistake.
[[nodiscard]] ConfigPtr load_config(const std::string& file);

}  // namespace airlock::server
