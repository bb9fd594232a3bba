#include "config/config.hpp"

#include <sys/stat.h>

#include "airlock/error.hpp"
#include "config/table_reader.hpp"
#include "options.hpp"

namespace airlock::server {
namespace {

const std::vector<std::pair<std::string_view, unsigned>> kSocketModes = {
    {"0600", kPrivateSocket}, {"0660", 0660}, {"0666", 0666}};

void read_server(TableReader& table, Config& config) {
  config.store = table.text("store");
  config.listen = table.texts("listen");
  for (const std::string& each : config.listen) {
    try {
      if (each != kInherited) (void)parse_endpoint(each);
    } catch (const InvalidArgument& error) {
      table.fail("listen", error.what());
    }
  }
  config.hosts.read(table);
  if (const auto threads = table.number("threads", 1, kMaxThreads))
    config.threads = static_cast<unsigned>(*threads);
  config.proxies.read(table);
  config.socket_mode = table.choice("socket_mode", kSocketModes).value_or(kPrivateSocket);
  if (config.socket_mode != kPrivateSocket && config.rights.is_open())
    table.fail("socket_mode", "needs a [[principal]], or everybody who connects may do everything");
}

// A pipe is nobody's file.
void check_writers(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      (status.st_mode & S_IWOTH) != 0) {
    throw InvalidArgument(file + ": everybody may write it, and so take any right; chmod o-w");
  }
}

}  // namespace

ConfigPtr load_config(const std::string& file) {
  const auto config = std::make_shared<Config>();
  read_toml(file, [&config](TableReader& reader) {
    config->rights.read(reader);
    config->tls.read(reader);
    if (config->rights.knows_certificates() && !config->tls.verifies_clients())
      reader.fail("principal", "certificates need client_ca in [tls]");
    reader.with("server", [&config](TableReader& table) { read_server(table, *config); });
    config->gates.read(reader);
    config->descriptors.read(reader);
    reader.with("dashboard", [&config](TableReader& table) { config->dashboard.read(table); });
    reader.with("log", [&config](TableReader& table) { config->log.read(table); });
    config->rooms.read(reader);
  });
  if (!config->rights.is_open()) check_writers(file);
  return config;
}

}  // namespace airlock::server
