#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "airlock/duration.hpp"
#include "airlock/outcome.hpp"
#include "airlock/rate.hpp"
#include "http/message.hpp"

// How the answers of the store are written, for every call alike.

namespace airlock::server {

using OrderedJson = nlohmann::ordered_json;

[[nodiscard]] OrderedJson granted_json(const Granted& granted, Duration waited);
[[nodiscard]] OrderedJson queued_json(const Queued& queued, std::string_view visitor);
[[nodiscard]] OrderedJson refused_json(const Refused& refused);

// Whole seconds for a header, rounded up; at least 1.
[[nodiscard]] std::string whole_seconds(Duration duration);

// RateLimit and RateLimit-Policy, as draft-ietf-httpapi-ratelimit-headers has them.
void add_rate_fields(Response& response, std::span<const Rate> rates, const RateInfo& info);

[[nodiscard]] Response json_response(int status, const OrderedJson& json);
[[nodiscard]] Response refused_response(const Refused& refused, std::span<const Rate> rates);

// 503: the server stops, and when to ask again.
[[nodiscard]] Response stopping_response();

// The exception that is being handled, as a problem: Rejection, InvalidArgument, StoreError, or a mistake of the server.
[[nodiscard]] Response failure_response();

}  // namespace airlock::server
