#pragma once

#include "grpc/call.hpp"

namespace airlock::server {

struct Api;

// Answers a call of envoy.service.ratelimit.v3.RateLimitService or grpc.health.v1.Health, or begins to.
void handle_grpc(Api& api, const grpc::CallPtr& call);

}  // namespace airlock::server
