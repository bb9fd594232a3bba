#pragma once

#include "api/api.hpp"
#include "room/cookie.hpp"
#include "room/room_rules.hpp"
#include "room/sessions.hpp"

namespace airlock::server {

// How /check says that a visitor has to wait.
enum class RoomCheck : std::uint8_t {
  subrequest,  // 401: the proxy sends the visitor to the room.
  forward,     // 303 to the room.
};

// GET /check for a gate with a room: 204 for a visitor with a good pass, without a question to the store except to extend
// the session. `to` is the path that the visitor asked for, empty where the proxy does not say. With the header
// Airlock-Session: end the session ends with this request.
void check_room(Api& api, const ExchangePtr& exchange, const GateName& gate, const Room& room,
                RoomCheck style, std::string_view to);

// Gives back what the visitor of the ticket has: its session, or its place in line. StoreError.
void end_session(Sessions& sessions, const Store& store, const GateName& gate, const Room& room,
                 const RoomTicket& ticket);

}  // namespace airlock::server
