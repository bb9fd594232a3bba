#pragma once

#include <sys/socket.h>

#include <vector>

#include "store/redis/address.hpp"
#include "store/redis/deadline.hpp"
#include "store/redis/descriptor.hpp"

namespace airlock::redis {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
};

// Connects. All addresses of a name are tried, as endpoints are. StoreError says what kept it from it.
[[nodiscard]] SocketDescriptor dial(const Address& address, const Deadline& deadline);

// Tries one endpoint after the other, each when the one before has failed or a moment later, without
// giving up on that one; takes the first that accepts. `name`: what they are in messages.
[[nodiscard]] SocketDescriptor dial_any(const std::vector<Endpoint>& endpoints,
                                        const std::string& name, const Deadline& deadline);

}  // namespace airlock::redis
