#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "airlock/outcome.hpp"
#include "airlock/store.hpp"
#include "room/room_call.hpp"
#include "room/wait_estimate.hpp"

namespace airlock::server {

// Where a visitor of a room stands.
struct Standing {
  enum class State : std::uint8_t {
    joining,  // About to get a place.
    waiting,
    admitted,
    paused,  // In line, while nobody is let in.
    early,   // In line, before the room opens.
    ended,
    full,     // The line is too long.
    cookies,  // The browser has returned no cookie.
    outage,   // The store does not answer.
  };

  State state = State::joining;
  std::uint32_t position = 0;  // 0: none, or not drawn yet.
  std::uint32_t waiting = 0;
  std::optional<WaitRange> wait = {};
  double progress = 0;     // 0 to 1: the part of the wait that is over.
  Duration next_check{0};  // When the place has to be asked for again. 0: there is none.
  std::optional<Granted> granted = {};  // admitted

  [[nodiscard]] bool has_place() const noexcept { return next_check != Duration(0); }
};

[[nodiscard]] const char* to_text(Standing::State state) noexcept;

// How a place is asked for.
struct Asking {
  bool joins = true;  // Else a place is only found.
  Hold hold = Hold::detached;
  Duration claim_window{0};  // Of a new place.
  Duration session{0};       // What a session that begins has until it is asked for again. 0: all.
};

// One question for the visitor of the call, which has one. StoreError.
[[nodiscard]] Standing ask_line(const Store& store, const RoomCall& call, const Asking& asking);

// The standing of a waiting visitor, as the line is now. Nothing if it is not in line any more.
[[nodiscard]] std::optional<Standing> seen_in(const LineView& view, const RoomCall& call);

// What people read.
struct Shown {
  std::string_view headline;
  std::string_view detail;
  std::string position;
  std::string ahead;
  std::string wait;
  std::string_view label_wait;
  int percent = 0;

  friend bool operator==(const Shown&, const Shown&) = default;
};
[[nodiscard]] Shown shown(const RoomCall& call, const Standing& standing);

// {"state","position","ahead","waiting","wait_seconds","progress","location","shown":{}}; progress in percent, location of the admitted.
[[nodiscard]] nlohmann::ordered_json standing_json(const RoomCall& call, const Standing& standing);

}  // namespace airlock::server
