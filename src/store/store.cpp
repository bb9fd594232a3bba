#include "airlock/store.hpp"

namespace airlock {

Store::~Store() = default;

std::vector<Finding> Store::examine() { return {}; }

Renewal Store::renew(const Token& token, Duration ttl) {
  RenewItem item{.token = token, .ttl = ttl};
  renew({&item, 1});
  return item.result;
}

bool Store::await(const GateName& gate, const VisitorId& visitor,
                  const std::shared_ptr<Sleeper>& sleeper, Instant deadline) {
  if (!watch(gate, visitor, [sleeper] { sleeper->wake(true); })) return true;
  return sleeper->sleep(clock(), deadline);
}

}  // namespace airlock
