#pragma once

#include "airlock/name.hpp"
#include "http/exchange.hpp"
#include "rights/role.hpp"

// The rights of a request, for its handler.
//
//   require(*exchange, Role::operate, gate);           // Or 403.
//   if (may(*exchange, Role::observe, name)) ...       // To list what the caller may see.
//
// handle() does both of these for a path with {gate}: the route table names the role.

namespace airlock::server {

// Finds out who asks, by the configuration of now. Rejection 401.
void authenticate(Exchange& exchange);

// Rejection 403 for a caller that has not the role at this gate, or at no gate at all.
void require(const Exchange& exchange, Role role, const GateName& gate);
void require_somewhere(const Exchange& exchange, Role role);

[[nodiscard]] bool may(const Exchange& exchange, Role role, std::string_view gate);

}  // namespace airlock::server
