#pragma once

#include <string>
#include <vector>

#include "store/redis/client.hpp"

namespace airlock::redis {

// The gates that the servers may have, sorted: every key that is named like one. What cannot be the
// name of a gate is somebody else's, and left out.
[[nodiscard]] std::vector<GateName> scan_gates(Client& client, const Naming& naming,
                                               const Options& options);

}  // namespace airlock::redis
