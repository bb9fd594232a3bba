#pragma once

#include <span>

#include "rls/descriptors.hpp"
#include "rls/messages.hpp"
#include "rls/part.hpp"

namespace airlock::server::rls {

// Adds the fields that describe the limit that is over, else the one with the least left.
void add_headers(RateLimitResponse& response, Headers headers, std::span<const Part> parts);

}  // namespace airlock::server::rls
