#pragma once

#include "http/message.hpp"
#include "room/standing.hpp"

namespace airlock::server {

// The page of a visitor that waits, or its JSON, with the status of the room.
[[nodiscard]] Response waiting_response(const RoomCall& call, const Standing& standing);

// 303, or JSON with the location.
[[nodiscard]] Response admitted_response(const RoomCall& call, const Standing& standing);

// Fields of every answer of a room.
void add_room_fields(Response& response);

}  // namespace airlock::server
