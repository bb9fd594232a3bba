#pragma once

#include <cstdint>
#include <span>

#include "airlock/outcome.hpp"
#include "airlock/rate.hpp"
#include "api/fields.hpp"
#include "http/message.hpp"

// What a proxy is answered. All have Airlock-Status: admitted, queued, refused, outage or invalid.

namespace airlock::server {

enum class CheckStyle : std::uint8_t {
  subrequest,  // For auth_request of nginx, which knows 2xx, 401 and 403 only: 204, 401 queued, 403.
  forward,     // For proxies that hand the answer to their client: 204, 429, 503, and a body.
};

[[nodiscard]] Response check_response(CheckStyle style, const Answer& answer,
                                      std::span<const Rate> rates);

// The store does not answer.
[[nodiscard]] Response outage_response(CheckStyle style, bool admits);

// The request does not say for whom it asks.
[[nodiscard]] Response invalid_response(CheckStyle style, const Rejection& rejection);

}  // namespace airlock::server
