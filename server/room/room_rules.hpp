#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/pass.hpp"
#include "airlock/rate.hpp"
#include "airlock/request.hpp"
#include "config/table_reader.hpp"
#include "room/template.hpp"

namespace airlock::server {

// [[room]]: a gate whose visitors are browsers.
struct Room {
  std::string gate;     // A glob.
  std::uint32_t limit;  // Visitors that are in at once.
  std::vector<Rate> inflow = {};
  Duration ttl = std::chrono::minutes(5);  // A session without a request ends after this.
  bool is_sliding = true;                  // Requests extend the session.
  Order order = Order::fifo;
  Duration patience = std::chrono::minutes(5);  // A place is kept for this long.
  std::uint32_t max_waiting = 0;                // 0: no bound.
  int status = 503;                             // Of the page of a visitor that has to wait.
  Duration refresh = std::chrono::seconds(15);  // The page reloads, where it has no JavaScript.
  std::optional<Instant> opens_at = {};         // Since 1970, as ends_at.
  std::optional<Instant> ends_at = {};
  std::string site = {};               // Its name, on the page. Empty: none.
  std::string target = "/";            // Where visitors go that came from nowhere.
  std::vector<std::string> languages;  // The first is for visitors whose languages are not here.
  Keyring keys;
  PageTemplate page;

  [[nodiscard]] bool is_early(Instant now) const { return opens_at && now < *opens_at; }
  [[nodiscard]] bool has_ended(Instant now) const { return ends_at && now >= *ends_at; }
};

// The first room whose glob stands for a gate counts.
class RoomRules {
 public:
  // Reads all [[room]] of the file.
  void read(TableReader& file);
  [[nodiscard]] const Room* find(std::string_view gate) const;
  [[nodiscard]] const std::vector<Room>& all() const noexcept { return rooms_; }

 private:
  std::vector<Room> rooms_;
};

// "2026-12-01T10:00:00Z", or with an offset such as +01:00 for Z. Nothing for other texts.
[[nodiscard]] std::optional<Instant> parse_instant(std::string_view text);

// Now, since 1970.
[[nodiscard]] Instant wall_clock();

}  // namespace airlock::server
