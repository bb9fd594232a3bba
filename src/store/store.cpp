#include "airlock/store.hpp"

namespace airlock {

Store::~Store() = default;

Renewal Store::renew(const Token& token, Duration ttl) {
  RenewItem item{.token = token, .ttl = ttl};
  renew({&item, 1});
  return item.result;
}

}  // namespace airlock
