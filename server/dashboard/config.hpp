#pragma once

#include "config/table_reader.hpp"

namespace airlock::server {

// The table [dashboard] of airlock.toml.
struct DashboardConfig {
  bool history =
      true;  // False: gates are looked at only while somebody watches, and nothing is remembered.

  void read(TableReader& table);
};

}  // namespace airlock::server
