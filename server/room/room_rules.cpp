#include "room/room_rules.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <locale>
#include <sstream>

#include "airlock/error.hpp"
#include "airlock/name.hpp"
#include "airlock/store.hpp"
#include "config/gate_rules.hpp"
#include "room/room_call.hpp"
#include "room/words.hpp"

namespace airlock::server {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxPage = 256U << 10U;
constexpr Duration kMinTtl = 2s;

// Of rooms without `keys`: the same for all of them, and for every reload.
Keyring own_keys() {
  static const Keyring kKeys = Keyring::parse(Keyring::new_line("own"));
  return kKeys;
}

// Files are named relative to the configuration.
std::string beside(const TableReader& table, const std::string& file) {
  const std::string where = table.where("gate");
  const std::filesystem::path config = where.substr(0, where.find(':'));
  return (config.parent_path() / file).string();
}

std::string contents(const TableReader& table, const char* key, const std::string& name) {
  std::ifstream stream(beside(table, name), std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  (void)stream.peek();  // Says whether that was the end, or a fault.
  if (!stream || text.str().size() > kMaxPage)
    table.fail(key, "names no file of at most 256 kB that can be read");
  return std::move(text).str();
}

Keyring read_keys(TableReader& table) {
  const auto file = table.text("keys");
  if (!file) return own_keys();
  try {
    return Keyring::load(beside(table, *file));
  } catch (const InvalidArgument& error) {
    table.fail("keys", error.what());
  }
}

PageTemplate read_page(TableReader& table) {
  PageTemplate page;
  try {
    if (const auto html = table.text("template")) page.set_html(contents(table, "template", *html));
  } catch (const InvalidArgument& error) {
    if (std::string_view(error.what()).starts_with("{{")) table.fail("template", error.what());
    throw;
  }
  if (const auto css = table.text("css")) page.set_css(contents(table, "css", *css));
  return page;
}

std::optional<Instant> read_instant(TableReader& table, const char* key) {
  const auto text = table.text(key);
  if (!text) return std::nullopt;
  const auto instant = parse_instant(*text);
  if (!instant) table.fail(key, "has to be a time such as \"2026-12-01T10:00:00Z\"");
  return instant;
}

std::vector<std::string> read_languages(TableReader& table) {
  std::vector<std::string> languages = table.texts("languages");
  for (const std::string& language : languages) {
    if (find_words(language) == nullptr)
      table.fail("languages", "has to be of " + known_languages());
  }
  if (languages.empty()) languages = {"en", "de", "fr"};
  return languages;
}

void read_session(TableReader& table, Room& room) {
  room.ttl = table.duration("ttl", kMinTtl, kMaxTtl).value_or(room.ttl);
  const std::vector<std::pair<std::string_view, bool>> kinds = {{"sliding", true},
                                                                {"fixed", false}};
  room.is_sliding = table.choice("session", kinds).value_or(true);
}

void read_line(TableReader& table, Room& room) {
  room.order = table.choice("order", order_words()).value_or(room.order);
  room.patience = table.duration("patience", 1s, kMaxTtl).value_or(room.patience);
  room.max_waiting =
      static_cast<std::uint32_t>(table.number("max_waiting", 1, kMaxLimit).value_or(0));
  room.opens_at = read_instant(table, "opens_at");
  room.ends_at = read_instant(table, "ends_at");
  if (room.opens_at && room.ends_at && *room.ends_at <= *room.opens_at)
    table.fail("ends_at", "has to be after opens_at");
  if (room.order == Order::priority && !room.opens_at)
    table.fail("order", "priority shuffles those who are early, and needs opens_at");
}

void read_page_keys(TableReader& table, Room& room) {
  room.status = static_cast<int>(table.number("status", 200, 599).value_or(503));
  const auto is_known = [&](int status) { return status == room.status; };
  constexpr std::array kStatuses = {200, 202, 429, 503};
  if (std::none_of(kStatuses.begin(), kStatuses.end(), is_known))
    table.fail("status", "has to be 200, 202, 429 or 503");
  room.refresh = table.duration("refresh", 2s, 60s).value_or(room.refresh);
  room.site = table.text("site", 100).value_or("");
  room.target = table.text("target", 2'000).value_or("/");
  if (!is_local_path(room.target))
    table.fail("target",
               "has to be a path of the site, of visible ASCII characters, that begins with one /");
  room.languages = read_languages(table);
}

Room read_room(TableReader& table) {
  const std::string gate = table.needed("gate", table.text("gate", GateName::kMaxSize));
  const auto limit = table.needed("limit", table.number("limit", 1, kMaxLimit));
  Room room{.gate = gate,
            .limit = static_cast<std::uint32_t>(limit),
            .inflow = table.rates("inflow"),
            .languages = {},
            .keys = read_keys(table),
            .page = read_page(table)};
  check_rates(table, "inflow", room.inflow);
  read_session(table, room);
  read_line(table, room);
  read_page_keys(table, room);
  return room;
}

// The offset of a zone from UTC: Z, +01:00.
std::optional<std::chrono::minutes> parse_zone(std::string_view zone) {
  if (zone == "Z") return 0min;
  const bool has_form = zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':';
  if (!has_form) return std::nullopt;
  int digits = 0;
  for (const std::size_t at : {1U, 2U, 4U, 5U}) {
    if (zone[at] < '0' || zone[at] > '9') return std::nullopt;
    digits = digits * 10 + (zone[at] - '0');
  }
  const std::chrono::minutes offset(digits / 100 * 60 + digits % 100);
  return zone[0] == '-' ? -offset : offset;
}

}  // namespace

void RoomRules::read(TableReader& file) {
  file.for_each("room", [this](TableReader& table) { rooms_.push_back(read_room(table)); });
}

const Room* RoomRules::find(std::string_view gate) const {
  const auto found = std::find_if(rooms_.begin(), rooms_.end(), [gate](const Room& room) {
    return glob_matches(room.gate, gate);
  });
  return found == rooms_.end() ? nullptr : &*found;
}

std::optional<Instant> parse_instant(std::string_view text) {
  constexpr std::size_t kSize = std::string_view("2026-12-01T10:00:00").size();
  if (text.size() <= kSize) return std::nullopt;
  std::istringstream stream{std::string(text.substr(0, kSize))};
  stream.imbue(std::locale::classic());
  std::tm parts{};
  stream >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%S");
  const auto zone = parse_zone(text.substr(kSize));
  const std::chrono::year_month_day day{std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon) + 1),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday))};
  if (!stream || !zone || !day.ok()) return std::nullopt;
  const auto time = std::chrono::sys_days(day).time_since_epoch() +
                    std::chrono::hours(parts.tm_hour) + std::chrono::minutes(parts.tm_min) +
                    std::chrono::seconds(parts.tm_sec) - *zone;
  return Instant(time);
}

Instant wall_clock() {
  return std::chrono::duration_cast<Instant>(std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace airlock::server
