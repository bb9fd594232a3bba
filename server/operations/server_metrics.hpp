#pragma once

#include <iosfwd>

namespace airlock::server {

struct Shared;

// What the server counts itself, in the text format of Prometheus.
void write_server_metrics(const Shared& shared, bool is_store_available, std::ostream& out);

}  // namespace airlock::server
