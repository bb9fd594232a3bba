#pragma once

#include <functional>
#include <vector>

#include "airlock/store.hpp"
#include "store/redis/client.hpp"
#include "store/redis/options.hpp"

namespace airlock::redis {

// What an operator should know of the server: what it is, what it keeps, what it allows. `rights` is
// a run of that script; `can_hear` tries a subscription. StoreError if it cannot be reached, or not be
// used at all.
[[nodiscard]] std::vector<Finding> examine(Client& client, const Options& options,
                                           const Call& rights,
                                           const std::function<bool()>& can_hear);

}  // namespace airlock::redis
