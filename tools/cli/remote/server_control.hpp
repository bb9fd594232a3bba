#pragma once

#include <memory>
#include <string>

#include "airlock/duration.hpp"
#include "control.hpp"

namespace airlock::cli {

struct ServerOptions {
  std::string url;
  std::string ca = {};
  std::string token = {};
};

// Control over airlock-server: docs/server.md. InvalidArgument for options that contradict each other, and for a token
// that would cross a network as plain text.
[[nodiscard]] std::unique_ptr<Control> server_control(const ServerOptions& options);

}  // namespace airlock::cli
