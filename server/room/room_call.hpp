#pragma once

#include <memory>
#include <string>

#include "api/api.hpp"
#include "config/config.hpp"
#include "room/board.hpp"
#include "room/cookie.hpp"
#include "room/room_rules.hpp"
#include "room/words.hpp"

namespace airlock::server {

// A browser's request to a waiting room.
struct RoomCall {
  ConfigPtr config;  // Keeps the room.
  const Room* room = nullptr;
  const Words* words = nullptr;
  GateName gate;
  std::shared_ptr<Board> board;
  RoomTicket ticket;
  std::string
      to;  // The path that the visitor came from; the room's own target where there is none.
  bool wants_json = false;
  bool has_returned = false;  // Sent back here to show its cookie.
  bool is_plain = false;      // The page reloads itself, for it has no JavaScript.

  // Goes on by the rules of another configuration. False: it is the same, or has no such room.
  bool take_rules(const ConfigPtr& newest);

  // "/room/shop?MARK&to=/cart". The mark may be empty.
  [[nodiscard]] std::string url(std::string_view mark = {}) const;
  [[nodiscard]] std::string base() const;  // "/room/shop"
};

// Rejection where no [[room]] is for the gate.
[[nodiscard]] RoomCall read_room_call(Api& api, Exchange& exchange, const Places& places);

// A path of this site, to which a browser may be sent: no other host, no control character.
[[nodiscard]] bool is_local_path(std::string_view path);

// "/room/shop?to=/cart"
[[nodiscard]] std::string room_url(const GateName& gate, std::string_view to);

}  // namespace airlock::server
