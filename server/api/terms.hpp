#pragma once

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "api/fields.hpp"
#include "config/gate_rules.hpp"
#include "http/exchange.hpp"

// Limits, rates and orders: whose count, the caller's or those of the configuration.

namespace airlock::server {

// Rejection 403 for a caller that brings terms of its own, or asks for a gate that the configuration has none for, without
// the role `define`. `rule` may be null.
void check_terms(const Exchange& exchange, const Fields& fields, const GateName& gate,
                 const GateRule* rule);

// Rejection 403 for a ttl above that of the rule without the role `define`.
void check_ttl(const Exchange& exchange, Duration ttl, const GateName& gate, const GateRule* rule);

}  // namespace airlock::server
