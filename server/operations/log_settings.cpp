#include "operations/log_settings.hpp"

namespace airlock::server {

void LogSettings::read(TableReader& table) {
  access = table
               .choice<Access>(
                   "access", {{"off", Access::off}, {"text", Access::text}, {"json", Access::json}})
               .value_or(access);
  file = table.text("file").value_or("");
  if (!file.empty() && !file.starts_with('/'))
    table.fail("file", "has to be a path that begins with /");
}

}  // namespace airlock::server
