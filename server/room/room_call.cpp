#include "room/room_call.hpp"

#include <algorithm>
#include <charconv>

#include "api/fields.hpp"
#include "http/loop.hpp"

namespace airlock::server {
namespace {

constexpr std::size_t kMaxTarget = 2'000;

bool has_mark(std::string_view query, std::string_view mark) {
  query = query.substr(0, query.find("to="));
  return ("&" + std::string(query)).find("&" + std::string(mark) + "=1") != std::string::npos;
}

// %2Fcart%3Fa%3D1, where a proxy has encoded it.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The last parameter: it may contain a & that nobody has encoded.
std::string read_target(std::string_view query, const Room& room) {
  const std::size_t at = query.starts_with("to=") ? 0 : query.find("&to=");
  if (at == std::string_view::npos) return room.target;
  std::string_view to = query.substr(at);
  to.remove_prefix(to.find('=') + 1);
  const bool is_encoded = to.starts_with("%2F") || to.starts_with("%2f");
  std::string path = is_encoded ? decoded(to.substr(0, to.find('&'))) : std::string(to);
  return is_local_path(path) ? path : room.target;
}

std::string path_of(const GateName& gate) {
  std::string path = "/room/" + gate.text();
  std::replace(path.begin() + 6, path.end(), '/', '~');
  return path;
}

std::string first_value(const Request& request, std::string_view name) {
  const auto values = request.values(name);
  return values.empty() ? std::string() : std::string(values.front());
}

}  // namespace

bool is_local_path(std::string_view path) {
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7f && c != '\\'; };
  return path.starts_with('/') && !path.starts_with("//") && path.size() <= kMaxTarget &&
         std::all_of(path.begin(), path.end(), is_visible);
}

std::string room_url(const GateName& gate, std::string_view to) {
  return path_of(gate) + "?to=" + std::string(to);
}

std::string RoomCall::base() const { return path_of(gate); }

std::string RoomCall::url(std::string_view mark) const {
  return base() + "?" + std::string(mark) + (mark.empty() ? "" : "=1&") + "to=" + to;
}

bool RoomCall::take_rules(const ConfigPtr& newest) {
  const Room* const found = newest == config ? nullptr : newest->rooms.find(gate.view());
  if (found == nullptr) return false;
  config = newest;
  room = found;
  return true;
}

RoomCall read_room_call(Api& api, Exchange& exchange, const Places& places) {
  const Request& request = exchange.request();
  RoomCall call{.config = exchange.loop().config_pointer(),
                .gate = gate_in(places),
                .board = {},
                .ticket = {},
                .to = {}};
  call.room = call.config->rooms.find(call.gate.view());
  if (call.room == nullptr) throw Rejection{404, "there is no waiting room for this gate", "gate"};
  call.words = &choose_words(first_value(request, "Accept-Language"), call.room->languages);
  call.board = api.rooms.boards().at(call.gate);
  call.ticket = read_ticket(request, call.room->keys, call.gate);
  call.to = read_target(request.query, *call.room);
  call.wants_json = request.accept.find("application/json") != std::string::npos &&
                    request.accept.find("text/html") == std::string::npos;
  call.has_returned = has_mark(request.query, "back");
  call.is_plain = has_mark(request.query, "plain");
  return call;
}

}  // namespace airlock::server
