#include "rights/require.hpp"

#include <string>
#include <utility>

#include "api/fields.hpp"
#include "config/config.hpp"
#include "http/loop.hpp"

namespace airlock::server {
namespace {

std::string missing(Role role) {
  return "the caller has not the role " + std::string(role_name(role));
}

}  // namespace

void authenticate(Exchange& exchange) {
  const Rights& rights = exchange.loop().config().rights;
  // What was found for an earlier request of the connection is still so.
  if (rights.is_open() && exchange.peer().grants == Grants::all()) return;
  Caller caller = rights.identify(exchange.peer(), exchange.request().authorization);
  exchange.set_caller(std::move(caller.principal), std::move(caller.grants));
}

bool may(const Exchange& exchange, Role role, std::string_view gate) {
  const GrantsPtr& grants = exchange.peer().grants;
  return grants != nullptr && grants->allows(role, gate);
}

void require(const Exchange& exchange, Role role, const GateName& gate) {
  if (!may(exchange, role, gate.view()))
    throw Rejection{403, missing(role) + " for this gate", "gate"};
}

void require_somewhere(const Exchange& exchange, Role role) {
  const GrantsPtr& grants = exchange.peer().grants;
  if (grants == nullptr || !grants->allows_somewhere(role)) throw Rejection{403, missing(role)};
}

}  // namespace airlock::server
