#include "dashboard/config.hpp"

namespace airlock::server {

void DashboardConfig::read(TableReader& table) {
  history = table.flag("history").value_or(history);
}

}  // namespace airlock::server
