#pragma once

#include <string>

#include "check/check_rule.hpp"
#include "http/exchange.hpp"

namespace airlock::server {

// For whom a proxy asks.
struct CheckVisitor {
  std::string name = {};  // Empty: the gate has no visitors.
  std::string label =
      {};  // What operators see: an address, or the proxy. Never a cookie or a header, which may be secret.
};

// As the rule says. Rejection if the request does not say it, says it twice, or comes from a peer that is not trusted.
[[nodiscard]] CheckVisitor check_visitor(const CheckRule& rule, const Exchange& exchange);

}  // namespace airlock::server
