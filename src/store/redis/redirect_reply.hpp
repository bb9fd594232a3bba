#pragma once

#include <optional>

#include "store/redis/address.hpp"
#include "store/redis/reply.hpp"
#include "store/redis/slot.hpp"

namespace airlock::redis {

// What a server of a cluster says of a key that it does not have.
struct RedirectReply {
  bool for_good = false;  // MOVED; else ASK: for this once, while the slot is on its way.
  HashSlot slot = 0;
  std::string host = {};  // Empty: the same as of the server that says it.
  std::uint16_t port = 0;

  // Empty: it is something else.
  [[nodiscard]] static std::optional<RedirectReply> parse(const Reply& reply);
};

}  // namespace airlock::redis
