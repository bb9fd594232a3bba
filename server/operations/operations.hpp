#pragma once

#include "operations/error_log.hpp"
#include "operations/reload.hpp"

namespace airlock::server {

// What operators see of a server, beside what its clients do.
struct Operations {
  ErrorLog errors;
  ConfigStatus config;
};

}  // namespace airlock::server
