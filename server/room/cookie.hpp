#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "airlock/pass.hpp"
#include "airlock/token.hpp"
#include "http/message.hpp"

// The cookie of a waiting room: ID, and once its visitor is in, ID!PASS. Both are signed for this purpose and for the gate;
// the id lives longer, so that a visitor whose pass has expired is known again.

namespace airlock::server {

// What a browser has shown. Only what is signed and in force is here.
struct RoomTicket {
  std::optional<VisitorId> visitor = {};
  std::optional<Pass> pass = {};
};

[[nodiscard]] RoomTicket read_ticket(const Request& request, const Keyring& keys,
                                     const GateName& gate);

// Values of Set-Cookie.
[[nodiscard]] std::string waiting_cookie(const Keyring& keys, const GateName& gate,
                                         const VisitorId& visitor);
[[nodiscard]] std::string admitted_cookie(const Keyring& keys, const Token& token,
                                          Duration expires_in);
[[nodiscard]] std::string no_cookie(const GateName& gate);

}  // namespace airlock::server
