#include "api/terms.hpp"

#include "rights/require.hpp"

namespace airlock::server {

void check_terms(const Exchange& exchange, const Fields& fields, const GateName& gate,
                 const GateRule* rule) {
  if (may(exchange, Role::define, gate.view())) return;
  for (const char* const name : {"limit", "rates", "order"}) {
    if (fields.has(name))
      throw Rejection{403, "needs the role define; without it the [[gate]] of airlock.toml counts",
                      name};
  }
  if (rule == nullptr)
    throw Rejection{
        403, "no [[gate]] of airlock.toml is for it, and other gates need the role define", "gate"};
}

void check_ttl(const Exchange& exchange, Duration ttl, const GateName& gate, const GateRule* rule) {
  const Duration most = rule != nullptr ? rule->ttl : GateRule().ttl;
  if (ttl <= most || may(exchange, Role::define, gate.view())) return;
  throw Rejection{403, "is at most " + to_text(most) + " for this gate without the role define",
                  "ttl"};
}

}  // namespace airlock::server
