#include "operations/server_metrics.hpp"

#include <array>
#include <ostream>
#include <string>
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

constexpr std::array<std::string_view, 6> kClasses = {"gone", "1xx", "2xx", "3xx", "4xx", "5xx"};

std::string labels(const RouteName& route) {
  return "{route=\"" + std::string(route.path) + "\",method=\"" + std::string(route.method) + "\"";
}

void write_requests(std::ostream& out, const RouteTallies& tallies) {
  write_family(out, "requests_total", "counter",
               "Requests by call and class of status; gone: the client left before the answer.");
  for (const auto& [route, tally] : tallies) {
    for (std::size_t i = 0; i < kClasses.size(); ++i) {
      if (tally.by_class.at(i) != 0)
        out << "airlock_server_requests_total" << labels(route) << ",status=\"" << kClasses.at(i)
            << "\"} " << tally.by_class.at(i) << "\n";
    }
  }
}

void write_latency(std::ostream& out, const RouteName& route, const RouteTally& tally) {
  constexpr std::string_view kName = "airlock_server_request_seconds";
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kLatencyBounds.size(); ++i) {
    count += tally.by_latency.at(i);
    out << kName << "_bucket" << labels(route) << ",le=\"" << kLatencyBounds.at(i) << "\"} "
        << count << "\n";
  }
  count += tally.by_latency.back();
  out << kName << "_bucket" << labels(route) << ",le=\"+Inf\"} " << count << "\n";
  out << kName << "_sum" << labels(route) << "} " << tally.seconds << "\n";
  out << kName << "_count" << labels(route) << "} " << count << "\n";
}

void write_latencies(std::ostream& out, const RouteTallies& tallies) {
  write_family(
      out, "request_seconds", "histogram",
      "From the first byte of a request to its answer, waiting included, without streams.");
  for (const auto& [route, tally] : tallies) write_latency(out, route, tally);
}

void write_refused(std::ostream& out, const Operations& operations) {
  constexpr std::string_view kName = "airlock_server_refused_total";
  const AddressCaps& caps = operations.caps;
  write_family(out, "refused_total", "counter", "Connections and requests refused by a cap.");
  out << kName << "{cap=\"connections\"} " << operations.refused_connections.load() << "\n"
      << kName << "{cap=\"address_connections\"} " << caps.refused(AddressCaps::Kind::connections)
      << "\n"
      << kName << "{cap=\"address_places\"} " << caps.refused(AddressCaps::Kind::places) << "\n";
}

void write_logs(std::ostream& out, const Operations& operations) {
  write_family(
      out, "log_lines_dropped_total", "counter",
      "Lines that were not written because the disk or the reader was too slow, or failed.");
  out << "airlock_server_log_lines_dropped_total{log=\"access\"} " << operations.access.dropped()
      << "\nairlock_server_log_lines_dropped_total{log=\"error\"} " << operations.errors.dropped()
      << "\n";
  write_one(out, "log_lines_suppressed_total", "counter",
            "Lines of the error log beyond what one kind may write.",
            operations.errors.suppressed());
}

}  // namespace

void write_server_metrics(const Shared& shared, bool is_store_available, std::ostream& out) {
  write_one(out, "store_available", "gauge",
            "1 if the store has answered for this page; 0: the series of its gates are missing.",
            is_store_available ? 1 : 0);
  write_one(out, "connections", "gauge", "Open connections of clients.", shared.connections.load());
  const Operations& operations = shared.operations;
  write_one(out, "waiting_calls", "gauge", "Calls that wait to be answered (long polls).",
            operations.waiting_calls.load());
  write_one(out, "streams", "gauge", "Open streams of events.", operations.streams.load());
  const RouteTallies tallies = operations.tallies.sum();
  write_requests(out, tallies);
  write_latencies(out, tallies);
  write_refused(out, operations);
  write_config(out, operations.config);
  write_logs(out, operations);
}

}  // namespace airlock::server
