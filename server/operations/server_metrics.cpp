#include "operations/server_metrics.hpp"

#include <ostream>
#include <string_view>

#include "http/loop.hpp"

namespace airlock::server {
namespace {

void write_family(std::ostream& out, std::string_view name, std::string_view type,
                  std::string_view help) {
  out << "# HELP airlock_server_" << name << " " << help << "\n# TYPE airlock_server_" << name
      << " " << type << "\n";
}

template <typename Value>
void write_one(std::ostream& out, std::string_view name, std::string_view type,
               std::string_view help, const Value& value) {
  write_family(out, name, type, help);
  out << "airlock_server_" << name << " " << value << "\n";
}

void write_config(std::ostream& out, const ConfigStatus& config) {
  write_one(out, "config_generation", "gauge",
            "Which configuration counts: 1 at the start, one more with each reload.",
            config.generation.load());
  write_one(out, "config_loaded_timestamp_seconds", "gauge",
            "When the configuration that counts was loaded.", config.loaded_at.load());
  write_one(out, "config_failed_reloads_total", "counter",
            "Reloads that changed nothing because something was wrong.",
            config.failed_reloads.load());
  write_one(out, "config_failed_timestamp_seconds", "gauge", "When a reload last failed; 0: never.",
            config.failed_at.load());
}

}  // namespace

void write_server_metrics(const Shared& shared, std::ostream& out) {
  write_one(out, "connections", "gauge", "Open connections of clients.", shared.connections.load());
  write_config(out, shared.operations.config);
}

}  // namespace airlock::server
