#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "operations/access_log.hpp"
#include "operations/address_caps.hpp"
#include "operations/error_log.hpp"
#include "operations/reload.hpp"
#include "operations/request_tally.hpp"

namespace airlock::server {

// What operators see of a server, beside what its clients do.
struct Operations {
  ErrorLog errors;
  AccessLog access;
  ConfigStatus config;
  RequestTallyList tallies;
  AddressCaps caps;
  std::atomic<std::uint64_t> refused_connections = 0;  // Beyond what the server has room for.
  std::atomic<std::size_t> waiting_calls = 0;          // Long polls.
  std::atomic<std::size_t> streams = 0;
};

}  // namespace airlock::server
