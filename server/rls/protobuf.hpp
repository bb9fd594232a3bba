#pragma once

#include <string>
#include <string_view>

#include "rls/messages.hpp"

// The messages as gRPC carries them.

namespace airlock::server::rls {

// Throws InvalidRequest. Fields that this server does not know are skipped.
[[nodiscard]] RateLimitRequest parse_protobuf(std::string_view bytes);

[[nodiscard]] std::string to_protobuf(const RateLimitResponse& response);

// grpc.health.v1.
enum class Serving : std::uint8_t {
  unknown = 0,
  serving = 1,
  not_serving = 2,
  service_unknown = 3
};

// The service that a HealthCheckRequest asks for; empty: the server. Throws InvalidRequest.
[[nodiscard]] std::string parse_health_request(std::string_view bytes);
[[nodiscard]] std::string to_protobuf(Serving serving);

}  // namespace airlock::server::rls
