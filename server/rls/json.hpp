#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "rls/messages.hpp"

// The messages as JSON, as the mapping of proto3 has it: names in lowerCamelCase or as in the protocol, enumerators by name
// or number, fields that have their default left out.

namespace airlock::server::rls {

// Throws InvalidRequest, also for fields that the protocol does not have.
[[nodiscard]] RateLimitRequest parse_json(const std::string& text);

[[nodiscard]] nlohmann::ordered_json to_json(const RateLimitResponse& response);

}  // namespace airlock::server::rls
