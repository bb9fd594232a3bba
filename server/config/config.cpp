#include "config/config.hpp"

#include "airlock/error.hpp"
#include "config/table_reader.hpp"
#include "options.hpp"

namespace airlock::server {
namespace {

void read_server(TableReader& table, Config& config) {
  config.store = table.text("store");
  config.listen = table.texts("listen");
  for (const std::string& each : config.listen) {
    try {
      (void)parse_endpoint(each);
    } catch (const InvalidArgument& error) {
      table.fail("listen", error.what());
    }
  }
  if (const auto threads = table.number("threads", 1, kMaxThreads))
    config.threads = static_cast<unsigned>(*threads);
}

}  // namespace

ConfigPtr load_config(const std::string& file) {
  const auto config = std::make_shared<Config>();
  read_toml(file, [&config](TableReader& reader) {
    reader.with("server", [&config](TableReader& table) { read_server(table, *config); });
    config->gates.read(reader);
  });
  return config;
}

}  // namespace airlock::server
